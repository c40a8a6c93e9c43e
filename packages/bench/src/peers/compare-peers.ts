import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Figure } from "../figure.ts";
import { runProcess, watchPeakMemory } from "../measure/process-run.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import { openAITextAnswer, textAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { wholeProcess } from "../stage/program-runs.ts";
import { createProject, type Stage } from "../stage/stage.ts";
import { PEERS, type Peer, type PeerCommands } from "./peers.ts";

const INSIDE = join(import.meta.dir, "inside.ts");
// A few seconds for each run of the slowest program.
const COMPARE_PEERS_TIME_LIMIT_MS = 15 * 60_000;

/** See `comparePeers`. */
export const PEER_COMPARISON: Benchmark = {
  name: "peers",
  about: "diligent compared with the programs that users could choose instead",
  measure: (stage) => comparePeers(stage, console.error),
};

/**
 * Installs the programs that users could choose instead, and measures them next to ours, without any network
 * except loopback. If no such network is available, they are left out with a message.
 */
async function comparePeers(stage: Stage, say: (line: string) => void): Promise<Figure[]> {
  const directory = stage.scratch.makeDirectory("peers");
  const command = withoutNetwork([process.execPath, INSIDE, directory]);
  if (command === undefined) {
    say("peers are left out: this machine allows no network namespace with only loopback");
    return [];
  }
  say(`installing ${PEERS.map(({ package: name }) => name).join(", ")}…`);
  const peers = await installPeers(PEERS, directory, ({ name }, why) => say(`${name} is left out: ${why}`));
  say("measuring…");
  const runs = stage.runs(0);
  const child = Bun.spawn([...command, String(runs), ...peers.map(({ name }) => name)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: COMPARE_PEERS_TIME_LIMIT_MS,
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0)
    throw new Error(`The peers could not be measured: ${stderr.trim().slice(-2_000)}`);
  const figures: Figure[] = JSON.parse(stdout);
  return figures;
}

const RUNS = 7;
// For some, the first answer is a title; they request more answers than are measured.
const ANSWERS = 5;

interface Subject extends PeerCommands {
  name: string;
  home: string;
  service: Peer["service"];
}

/**
 * What a user waits for with diligent and its peers, each as a multiple of an empty script in the same run.
 */
export async function measurePeers(
  stage: Stage,
  peers: readonly Peer[],
  installed: string,
): Promise<Figure[]> {
  using server = new MessagesServer();
  const subjects = [
    await ours(stage, server),
    ...peers.map((peer) => toSubject(stage, peer, { installed, serverUrl: server.baseUrl })),
  ];
  const empty = wholeProcess(stage, [stage.emptyScript]);
  const measured = subjects.map((subject) => {
    const figures = { request: [] as number[], memory: [] as number[] };
    const version = new Series(async () => (await run(stage, subject, subject.version)).wallMs);
    const request = new Series(async () => {
      const { requestMs, megabytes } = await ask(stage, subject, server);
      figures.memory.push(megabytes);
      return requestMs;
    });
    return { subject, version, request, memory: figures.memory };
  });
  await takeTurns(
    [empty, ...measured.flatMap(({ version, request }) => [version, request])],
    stage.runs(RUNS),
  );
  const toFigure = (name: string, values: readonly number[]): Figure => ({
    name,
    unit: "ms",
    rule: { kind: "ratio" },
    measured: values,
    reference: { name: "empty script", values: empty.values },
  });
  return [
    ...measured.map(({ subject, version }) => toFigure(`--version, ${subject.name}`, version.values)),
    ...measured.map(({ subject, request }) => toFigure(`first request, ${subject.name}`, request.values)),
    ...measured.map(
      ({ subject, memory }): Figure => ({
        name: `peak memory of a prompt, ${subject.name}`,
        unit: "MB",
        rule: { kind: "amount" },
        measured: memory,
      }),
    ),
  ];
}

async function ours(stage: Stage, server: MessagesServer): Promise<Subject> {
  const [, bundle] = await stage.programs();
  return {
    name: "diligent",
    service: "anthropic",
    home: stage.home,
    version: [bundle.path, "--version"],
    print: [bundle.path, "-p", "--approval", "auto", "Do what is needed."],
    environment: { ANTHROPIC_API_KEY: "bench-key", ANTHROPIC_BASE_URL: server.baseUrl },
  };
}

function toSubject(
  stage: Stage,
  peer: Peer,
  { installed, serverUrl }: { installed: string; serverUrl: string },
): Subject {
  const home = stage.scratch.makeDirectory("home");
  return { name: peer.name, service: peer.service, home, ...peer.prepare({ installed, home, serverUrl }) };
}

function run(
  stage: Stage,
  { home, environment }: Subject,
  argv: readonly string[],
  onStart?: (pid: number) => void,
) {
  return runProcess({
    argv,
    cwd: createProject(stage.scratch),
    environment: { ...stage.environment(home), ...environment },
    ...(onStart && { onStart }),
  });
}

async function ask(stage: Stage, subject: Subject, server: MessagesServer) {
  const answer = subject.service === "openai" ? openAITextAnswer("Done.") : textAnswer("Done.");
  server.begin(Array.from({ length: ANSWERS }, () => answer));
  let peak: ReturnType<typeof watchPeakMemory> | undefined;
  const { startedAt } = await run(stage, subject, subject.print, (pid) => {
    peak = watchPeakMemory(pid);
  });
  peak?.stop();
  const [request] = server.requests;
  if (!request) throw new Error(`${subject.name} sent no request.`);
  return { requestMs: request.arrivedAt - startedAt, megabytes: peak?.megabytes ?? 0 };
}

const INSTALL_PEERS_TIME_LIMIT_MS = 10 * 60_000;

/**
 * Installs the peers into a directory, from the user's registry and without running their install scripts.
 * Returns those that were installed; each of the others is reported with the reason.
 */
async function installPeers(
  peers: readonly Peer[],
  directory: string,
  onMissing: (peer: Peer, reason: string) => void,
): Promise<Peer[]> {
  writeFileSync(join(directory, "package.json"), '{"private":true}\n');
  const installed: Peer[] = [];
  for (const peer of peers) {
    const child = Bun.spawn([process.execPath, "add", "--exact", "--ignore-scripts", peer.package], {
      cwd: directory,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      timeout: INSTALL_PEERS_TIME_LIMIT_MS,
    });
    const stderr = await child.stderr.text();
    if ((await child.exited) === 0) installed.push(peer);
    else onMissing(peer, stderr.trim().split("\n").at(-1) ?? "it could not be installed");
  }
  return installed;
}

/**
 * Wraps a command so that it runs in a network namespace with only loopback; undefined if none can be
 * created, which is tested by creating one.
 */
function withoutNetwork(argv: readonly string[]): string[] | undefined {
  const script = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  // A user who is not root becomes root in it; most systems allow that, but not all.
  const prefix = process.getuid?.() === 0 ? ["unshare", "-n"] : ["unshare", "-r", "-n"];
  if (Bun.which("unshare") === null || Bun.which("ip") === null) return undefined;
  const trial = Bun.spawnSync([...prefix, ...script, "true"], { stdout: "ignore", stderr: "ignore" });
  return trial.exitCode === 0 ? [...prefix, ...script, ...argv] : undefined;
}
