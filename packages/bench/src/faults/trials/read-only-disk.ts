import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { findLost, isFinished } from "../../kill/find-lost.ts";
import { checkNextRequest } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import { findMountObstacle, SmallDisk } from "../small-disk.ts";
import type { FaultTrial } from "../trial.ts";

const LONGEST_RUN_MS = 300;
const FROM_THE_BEGINNING = 0.3;
const FOR_GOOD = 0.5;
const KILOBYTES = 64;

/** Where the sessions are, nothing can be written and nothing stands any more: from some moment on, for good or for a while. */
export const READ_ONLY_DISK: FaultTrial = {
  name: "read-only-disk",
  about: "a disk that is read-only and empty, before or in mid-run, for good or for a while",
  obstacle: findMountObstacle,
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const directory = join(place.project, ".diligent");
    const waitMs = random() < FROM_THE_BEGINNING ? undefined : random() * LONGEST_RUN_MS;
    let disk = waitMs === undefined ? coverReadOnly(directory) : undefined;
    const run = startRandomRun(stage, ["--max-turns", "8"]);
    const pause = (durationMs: number) => Promise.race([Bun.sleep(durationMs), run.ended]);
    try {
      await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
      await pause(waitMs ?? 0);
      disk ??= coverReadOnly(directory);
      if (random() < FOR_GOOD) await run.ended;
      else await pause(random() * LONGEST_RUN_MS);
    } finally {
      disk?.[Symbol.dispose]();
    }
    const { stdout, stderr, exitCode } = await run.ended;
    const printed = toPrintedLines(stdout);
    const isEnded = [0, 3].includes(exitCode) && printed.at(-1)?.type === "result";
    check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 400)}`);
    const isTold = printed.some(({ code }) => code === "not_saved");
    const [sessionId] = savedSessions(stage);
    const path = join(directory, "sessions", `${sessionId}.jsonl`);
    const entries = existsSync(path) ? readSessionFile(path).entries : [];
    const lost = isTold ? [] : findLost(printed.filter(isFinished), entries);
    check("saved", lost.length === 0 ? undefined : `lost without a word: ${lost.join("; ").slice(0, 400)}`);
    if (sessionId === undefined) return;
    const before = readFileSync(path);
    await checkNextRequest(stage, sessionId);
    const isKept = readFileSync(path).subarray(0, before.length).equals(before);
    check("saved", isKept ? undefined : "earlier lines were damaged");
  },
};

function coverReadOnly(directory: string): SmallDisk {
  const disk = new SmallDisk(directory, KILOBYTES);
  disk.remount("ro");
  return disk;
}
