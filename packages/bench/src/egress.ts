import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBenchScript } from "./arguments.ts";
import { findEgressObstacle, UNSHARE } from "./egress/obstacle.ts";
import { PacketCapture } from "./egress/packet-capture.ts";
import { runScenes, type SceneResult } from "./egress/scenes.ts";
import { HOSTS } from "./egress/services.ts";
import { Scratch, Stage } from "./stage/stage.ts";

// Runs the demonstration and sessions in a network namespace of their own, captures what leaves, and compares it with
// what diligent lists. All traffic stays in the namespace, whose default route leads to its loopback.

/** Set in the namespace. */
const INSIDE = "--inside";

await runBenchScript({
  name: "egress",
  help: {
    usage: ["bun run egress"],
    choices: [],
    notes: [
      "Captures every packet of the demonstration and of sessions with a provider, servers, pages, commands and jobs.",
      "Exit code 1: something left that diligent does not list, or the reverse; 2: it cannot be tested here.",
    ],
  },
  main: (argv) => (argv[0] === INSIDE ? runInside() : startInside()),
});

/** @throws Error, a line, where there is no such namespace. */
async function startInside(): Promise<number> {
  const obstacle = findEgressObstacle();
  if (obstacle !== undefined) throw new Error(`cannot be tested here: ${obstacle}.`);
  using scratch = new Scratch();
  const hosts = join(scratch.path, "hosts");
  const lines = Object.entries(HOSTS).map(([name, address]) => `${address} ${name}`);
  writeFileSync(hosts, `127.0.0.1 localhost\n${lines.join("\n")}\n`);
  // A server that nobody runs: only the questions to it are wanted.
  const resolver = join(scratch.path, "resolv.conf");
  writeFileSync(resolver, "nameserver 9.9.9.53\noptions timeout:1 attempts:1\n");
  const steps = [
    "ip link set lo up",
    "ip addr add 10.98.0.1/32 dev lo",
    ...Object.values(HOSTS)
      .filter((address) => address !== HOSTS["outside.test"])
      .map((address) => `ip addr add ${address}/32 dev lo`),
    "ip route add default dev lo src 10.98.0.1",
    // Without IPv6, nothing can leave by it either.
    "{ ip -6 addr add fd98::1/128 dev lo && ip -6 route add default dev lo; } 2>/dev/null || true",
    'mount --bind "$1" /etc/hosts',
    'mount --bind "$2" "$(readlink -f /etc/resolv.conf)"',
  ];
  const prepared = `${steps.join(" && ")} && touch "$3" && exec "$4" "$5" ${INSIDE}`;
  const mark = join(scratch.path, "prepared");
  const child = Bun.spawn(
    [
      ...[...UNSHARE, "sh", "-c", prepared, "sh"],
      ...[hosts, resolver, mark, process.execPath, import.meta.path],
    ],
    { stdin: "ignore", stdout: "inherit", stderr: "pipe" },
  );
  const [exitCode, said] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (await Bun.file(mark).exists()) {
    process.stderr.write(said);
    return exitCode;
  }
  throw new Error(`cannot be tested here: the namespace could not be prepared: ${said.trim()}`);
}

async function runInside(): Promise<number> {
  using stage = new Stage();
  using capture = PacketCapture.open();
  const results = await runScenes(stage, capture);
  const problems = results.flatMap(findProblems);
  for (const result of results) console.log(describeScene(result));
  for (const problem of problems) console.log(problem);
  console.log(problems.length === 0 ? "\nNothing left but what is listed." : "");
  return problems.length === 0 ? 0 : 1;
}

function describeScene({ name, seen, listed }: SceneResult): string {
  const hosts = seen.length === 0 ? ["  nothing"] : seen.map((host) => `  ${host}`);
  const count = name === "control" ? "not by diligent" : `${listed.length} listed`;
  return [`${name} (${seen.length} seen, ${count})`, ...hosts].join("\n");
}

/** What left without being listed, and what was listed without leaving. */
function findProblems({ name, seen, listed, problems }: SceneResult): string[] {
  const hidden = seen.filter((host) => !listed.includes(host));
  const unmade = listed.filter((host) => !seen.includes(host));
  return [
    ...hidden.map((host) => `PROBLEM in ${name}: ${host} was reached and is not listed.`),
    ...unmade.map((host) => `PROBLEM in ${name}: ${host} is listed and was not reached.`),
    ...problems.map((problem) => `PROBLEM in ${name}: ${problem}.`),
  ];
}
