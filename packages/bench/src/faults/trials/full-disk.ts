import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { between } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

/** The sessions' directory is a small file system of its own, full before the run has ended. */
export const FULL_DISK: FaultTrial = {
  name: "full-disk",
  about: "a disk that is full in mid-turn (a tmpfs of 16 to 64 KiB)",
  obstacle() {
    if (process.platform !== "linux") return "a tmpfs can be mounted on Linux only";
    return process.getuid?.() === 0 && Bun.which("mount") ? undefined : "only root can mount a tmpfs";
  },
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const directory = join(place.project, ".diligent");
    mkdirSync(directory);
    const mount = ["mount", "-t", "tmpfs", "-o", `size=${between(random, 4, 16) * 4}k`, "tmpfs", directory];
    if (Bun.spawnSync(mount).exitCode !== 0) throw new Error("The tmpfs could not be mounted.");
    try {
      const { stdout, stderr, exitCode } = await startRandomRun(stage, ["--max-turns", "30"]).ended;
      const isEnded = [0, 3].includes(exitCode) && toPrintedLines(stdout).at(-1)?.type === "result";
      check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 400)}`);
      const [sessionId] = savedSessions(stage);
      if (sessionId === undefined) return;
      const path = join(directory, "sessions", `${sessionId}.jsonl`);
      const before = readFileSync(path);
      // Space is there again: what is in the file is as it was, and the session goes on.
      Bun.spawnSync(["mount", "-o", "remount,size=8m", directory]);
      await checkNextRequest(stage, sessionId);
      const isKept = readFileSync(path).subarray(0, before.length).equals(before);
      check("saved", isKept ? undefined : "earlier lines were damaged");
    } finally {
      Bun.spawnSync(["umount", "-l", directory]);
      rmSync(directory, { recursive: true, force: true });
    }
  },
};
