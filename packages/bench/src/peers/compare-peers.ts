import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import type { Stage } from "../stage/stage.ts";
import { PEERS } from "./index.ts";
import { installPeers } from "./install-peers.ts";
import { withoutNetwork } from "./network-namespace.ts";

const INSIDE = join(import.meta.dir, "inside.ts");
// A few seconds for each run of the slowest of them.
const TIME_LIMIT_MS = 15 * 60_000;

/** See `comparePeers`. */
export const PEER_COMPARISON: Benchmark = {
  name: "peers",
  about: "diligent beside the programs that users could pick instead",
  measure: (stage) => comparePeers(stage, console.error),
};

/**
 * Installs the programs that users could pick instead, and measures them beside ours, cut off from every network but
 * loopback. Where that cannot be had they are left out, which is said.
 */
async function comparePeers(stage: Stage, say: (line: string) => void): Promise<Figure[]> {
  const directory = stage.scratch.makeDirectory("peers");
  const command = withoutNetwork([process.execPath, INSIDE, directory]);
  if (command === undefined) {
    say("peers are left out: no network namespace with nothing but loopback can be had here");
    return [];
  }
  say(`installing ${PEERS.map(({ package: name }) => name).join(", ")} …`);
  const peers = await installPeers(PEERS, directory, ({ name }, why) => say(`${name} is left out: ${why}`));
  say("measuring them …");
  const runs = stage.runs(0);
  const child = Bun.spawn([...command, String(runs), ...peers.map(({ name }) => name)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIME_LIMIT_MS,
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0)
    throw new Error(`The peers could not be measured: ${stderr.trim().slice(-2_000)}`);
  const figures: Figure[] = JSON.parse(stdout);
  return figures;
}
