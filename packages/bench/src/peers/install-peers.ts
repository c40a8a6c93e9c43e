import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Peer } from "./peer.ts";

const TIME_LIMIT_MS = 10 * 60_000;

/**
 * Installs the peers into a directory, by the registry that the user has set and without running their install scripts.
 * Returns those that could be had; each of the others is told with the reason.
 */
export async function installPeers(
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
      timeout: TIME_LIMIT_MS,
    });
    const stderr = await child.stderr.text();
    if ((await child.exited) === 0) installed.push(peer);
    else onMissing(peer, stderr.trim().split("\n").at(-1) ?? "it could not be installed");
  }
  return installed;
}
