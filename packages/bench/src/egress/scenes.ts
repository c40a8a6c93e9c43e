import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../measure/process-run.ts";
import { createProject, type Stage } from "../stage/stage.ts";
import type { Departure, PacketCapture } from "./packet-capture.ts";
import { HOSTS, type PlannedAnswer, Services } from "./services.ts";

/** What one scene sent, and what diligent says about it. */
export interface SceneResult {
  name: string;
  /** Hosts with ports, in order: what the capture saw. */
  seen: string[];
  /** What `diligent network` lists as allowed. */
  listed: string[];
  /** What a scene that proves something else found to be wrong, a sentence. */
  problems: string[];
}

/** Takes a connection of its own, a command's, a job's and a server's, to hosts that are allowed and to others. */
const ANSWERS: readonly PlannedAnswer[] = [
  [
    { name: "web_fetch", input: { url: "http://pages.test/guide" } },
    { name: "mcp__remote__echo", input: {} },
    { name: "web_fetch", input: { url: "http://leak.test/" } },
  ],
  [
    {
      name: "bash",
      input: {
        command:
          "curl -sS -m 10 http://files.test/; curl -sS -m 5 http://leak.test/; curl -sS -m 2 --noproxy '*' http://9.9.9.66/; getent hosts outside.test; true",
      },
    },
    {
      name: "bash",
      input: {
        command:
          "curl -sS -m 10 http://files.test/job; curl -sS -m 2 --noproxy '*' http://9.9.9.66/; echo job has ended",
        background: true,
      },
    },
  ],
  [{ name: "job_output", input: { id: "{JOB}", wait_ms: 20_000, filter: "ended" } }],
  [],
];

/** How a session is started, and the hosts that it reaches: one that fails early would prove nothing. */
interface SessionScene {
  name: string;
  args: readonly string[];
  reached: readonly string[];
}

const SESSIONS: readonly SessionScene[] = [
  {
    name: "session",
    args: [],
    reached: ["127.0.0.1:80", "files.test:80", "mcp.test:80", "pages.test:80", "provider.test:80"],
  },
  {
    name: "session --only-host",
    args: ["--only-host", "provider.test"],
    reached: ["provider.test:80"],
  },
];

/** Runs all scenes in this network namespace. @throws Error, a line, if a scene cannot be run. */
export async function runScenes(stage: Stage, capture: PacketCapture): Promise<SceneResult[]> {
  await using services = new Services();
  capture.take();
  const results = [await runControl(stage, capture), await runDemo(stage, capture)];
  for (const session of SESSIONS) {
    services.begin(ANSWERS);
    results.push(await runSession(stage, capture, session));
  }
  return results;
}

/** A scene that speaks to hosts on purpose: a capture that does not see them proves nothing. */
async function runControl(stage: Stage, capture: PacketCapture): Promise<SceneResult> {
  const script =
    "await Promise.allSettled(['http://leak.test/', 'http://9.9.9.99/', 'http://nowhere.egress.test/'].map((url) => fetch(url, { signal: AbortSignal.timeout(1500) })));";
  await run(stage, [process.execPath, "-e", script], stage.scratch.path);
  const departures = capture.take();
  const seen = describeDepartures(departures);
  const wanted = ["leak.test:80", "outside.test:80"].filter((host) => !seen.includes(host));
  const asked = departures.some(({ question }) => question === "nowhere.egress.test");
  return {
    name: "control",
    seen,
    listed: seen,
    problems: [
      ...wanted.map((host) => `the capture did not see ${host}`),
      ...(asked ? [] : ["the capture did not see a question to a name server"]),
    ],
  };
}

async function runDemo(stage: Stage, capture: PacketCapture): Promise<SceneResult> {
  await run(stage, [stage.checkout.path, "demo"], stage.scratch.path);
  return { name: "demo", seen: describeDepartures(capture.take()), listed: [], problems: [] };
}

async function runSession(
  stage: Stage,
  capture: PacketCapture,
  { name, args, reached }: SessionScene,
): Promise<SceneResult> {
  const project = createProject(stage.scratch);
  writeUserConfig(stage);
  const program = stage.checkout.path;
  const output = await run(
    stage,
    [program, "-p", "-m", "local/any", "--approval", "auto", "--output-format", "json", ...args, "go"],
    project,
  );
  const seen = describeDepartures(capture.take());
  const records: { host?: string; port?: number; allowed?: boolean }[] = JSON.parse(
    await run(stage, [program, "network", "--json"], project),
  );
  const listed = records.flatMap(({ host, port, allowed }) => (allowed ? [`${host}:${port}`] : []));
  const isDone = JSON.parse(output).result === "Done.";
  return {
    name,
    seen,
    listed: [...new Set(listed)].sort(),
    problems: [
      ...(isDone ? [] : [`the session did not come to its end: ${output.slice(0, 300)}`]),
      ...reached.filter((host) => !seen.includes(host)).map((host) => `${host} was not reached`),
    ],
  };
}

/** Everything that connects, and a server in a sandbox without a network that tries to. */
function writeUserConfig(stage: Stage): void {
  const directory = join(stage.home, ".config", "diligent");
  mkdirSync(directory, { recursive: true });
  const leaking = "curl -sS -m 2 http://leak.test/; curl -sS -m 2 --noproxy '*' http://9.9.9.66/; exit 1";
  const config = {
    provider: { compatible: { local: { baseUrl: "http://provider.test/v1" } } },
    mcpServers: {
      remote: { type: "http", url: "http://mcp.test/mcp", protocol: "legacy" },
      leaking: { command: "/bin/sh", args: ["-c", leaking], sandbox: {} },
    },
    hooks: { PostToolUse: [{ hooks: [{ type: "http", url: "http://127.0.0.1/hook" }] }] },
    permissions: [
      { permission: "fetch", pattern: "pages.test", action: "allow" },
      { permission: "fetch", pattern: "leak.test", action: "deny" },
    ],
    sandbox: "required",
    sandboxNetwork: { allow: ["files.test"] },
  };
  writeFileSync(join(directory, "diligent.jsonc"), JSON.stringify(config), { mode: 0o600 });
}

async function run(stage: Stage, argv: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await runProcess({
    argv,
    cwd,
    environment: stage.environment(),
    timeLimitMs: 120_000,
    exitCodes: [0, 4],
  });
  return stdout;
}

/** As `host:port`; a question to a name server with the name. */
function describeDepartures(departures: readonly Departure[]): string[] {
  const names = new Map(Object.entries(HOSTS).map(([name, address]) => [address, name]));
  const shown = departures.map(({ protocol, address, port, question }) => {
    const place = `${names.get(address) ?? address}:${port}`;
    if (question !== undefined) return `${place} (asked for ${question})`;
    return protocol === "tcp" ? place : `${place} (${protocol})`;
  });
  return [...new Set(shown)].sort();
}
