import { afterEach, expect } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countLeftRunning } from "../../../core/test/support/process-census.ts";
import { testUnless } from "../../../core/test/support/test-unless.ts";
import { writeUserConfig } from "../support/compatible-service.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { findSandboxProblem } from "../support/sandbox-problem.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const [initdb] = [...new Bun.Glob("/usr/lib/postgresql/*/bin/initdb").scanSync("/")].sort().reverse();
const obstacle = initdb === undefined ? "PostgreSQL is not installed" : undefined;
const programs = join(initdb ?? "", "..");
// PostgreSQL refuses to run as root; what a sandboxed command runs as cannot be changed.
const isRoot = process.getuid?.() === 0;
const user = isRoot ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";

let directory: string | undefined;

afterEach(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

function findFreePort(): number {
  using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return server.port;
}

async function runDatabase(sandbox: "off" | "required"): Promise<{ outputs: string[]; directory: string }> {
  const place = createTemporaryProject();
  writeUserConfig(place, { sandbox });
  directory = mkdtempSync(join(isRoot ? tmpdir() : place.project, "postgres-"));
  chmodSync(directory, 0o777);
  const port = findFreePort();
  const data = join(directory, "data");
  const psql = `${user}${programs}/psql -h localhost -p ${port} -U tester -At postgres -c`;
  const server = `-D ${data} -p ${port} -c listen_addresses=localhost -c unix_socket_directories=`;
  const calls = [
    [
      "bash",
      { command: `cd / && ${user}${programs}/initdb -D ${data} -A trust -U tester >/dev/null && echo made` },
    ],
    ["bash", { command: `cd / && exec ${user}${programs}/postgres ${server}`, background: true }],
    ["job_output", { id: "1", filter: "ready to accept connections", wait_ms: 60_000 }],
    ["bash", { command: `cd / && ${psql} 'create table answers (n int); insert into answers values (42)'` }],
    ["bash", { command: `cd / && ${psql} 'select n from answers'` }],
  ] as const;
  const turns = [...calls.map(([name, input]) => ({ toolCalls: [{ name, input }] })), { text: "Done." }];
  place.write("script.json", { version: 1, turns });
  const words = ["-p", "go", "-m", "scripted/script.json", "--approval", "auto"];
  const { stdout } = await runDiligent(place, [...words, "--output-format", "stream-json"], {
    timeoutMs: 90_000,
  });
  const outputs = parseLines(stdout).filter(({ type }) => type === "tool_end");
  place.remove();
  return { outputs: outputs.map(({ output }) => String(output)), directory };
}

const cases = [
  ["without a sandbox", "off", obstacle],
  [
    "in the sandbox",
    "required",
    obstacle ?? (isRoot ? "PostgreSQL does not run as root" : findSandboxProblem()),
  ],
] as const;

for (const [where, sandbox, problem] of cases) {
  testUnless(problem)(`PostgreSQL ${where} runs across calls as a job, and ends with the run`, async () => {
    const { outputs, directory: used } = await runDatabase(sandbox);
    expect(outputs[0]).toBe("made");
    expect(outputs[1]).toBe("Started job 1");
    expect(outputs[2]).toContain("ready to accept connections\n[running]");
    expect(outputs.slice(3)).toEqual(["CREATE TABLE\nINSERT 0 1", "42"]);
    expect(await countLeftRunning(used)).toBe(0);
  });
}
