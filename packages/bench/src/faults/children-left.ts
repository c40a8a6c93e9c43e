import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { TrialStage } from "./trial.ts";

/** How long what a program has started may outlive it. */
const PATIENCE_MS = 2_000;

/** Nothing may still work in the place, or know of it, two seconds after the program has ended. */
export async function checkChildren({ place, check }: Pick<TrialStage, "place" | "check">): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let left = findProcesses(place.top);
  while (left.length > 0 && performance.now() < deadline) {
    await Bun.sleep(20);
    left = findProcesses(place.top);
  }
  check("traceless", left.length === 0 ? undefined : `still running: ${left.join(", ")}`);
}

/** The command lines of the processes that work in a directory or have it in their environment. */
function findProcesses(directory: string): string[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || name === String(process.pid)) return [];
    try {
      const knows = (file: string) => readFileSync(`/proc/${name}/${file}`, "latin1");
      const isThere =
        readlinkSync(`/proc/${name}/cwd`).startsWith(directory) || knows("environ").includes(directory);
      return isThere && !/ Z \d/.test(knows("stat")) ? [knows("cmdline").replaceAll("\0", " ").trim()] : [];
    } catch {
      return []; // It has just ended, or belongs to somebody else.
    }
  });
}
