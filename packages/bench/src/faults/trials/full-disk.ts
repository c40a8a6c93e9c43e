import { readFileSync } from "node:fs";
import { join } from "node:path";
import { between } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import { findMountObstacle, SmallDisk } from "../small-disk.ts";
import type { FaultTrial } from "../trial.ts";

/** The sessions' directory is a small file system of its own, full before the run has ended. */
export const FULL_DISK: FaultTrial = {
  name: "full-disk",
  about: "a disk that is full in mid-turn (a tmpfs of 16 to 64 KiB)",
  obstacle: findMountObstacle,
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const directory = join(place.project, ".diligent");
    using disk = new SmallDisk(directory, between(random, 4, 16) * 4);
    const { stdout, stderr, exitCode } = await startRandomRun(stage, ["--max-turns", "30"]).ended;
    const isEnded = [0, 3].includes(exitCode) && toPrintedLines(stdout).at(-1)?.type === "result";
    check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 400)}`);
    const [sessionId] = savedSessions(stage);
    if (sessionId === undefined) return;
    const path = join(directory, "sessions", `${sessionId}.jsonl`);
    const before = readFileSync(path);
    // Space is there again: what is in the file is as it was, and the session goes on.
    disk.remount("size=8m");
    await checkNextRequest(stage, sessionId);
    const isKept = readFileSync(path).subarray(0, before.length).equals(before);
    check("saved", isKept ? undefined : "earlier lines were damaged");
  },
};
