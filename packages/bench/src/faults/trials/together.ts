import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pick } from "../chance.ts";
import { checkChildren } from "../children-left.ts";
import { checkSession } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

const FEW = ["--max-turns", "3"];

/** Several processes go on with one session at once: each on its branch, no line is torn or lost. */
export const TOGETHER: FaultTrial = {
  name: "together",
  about: "two or five processes at once on one session",
  async run(stage) {
    prepareRandomRuns(stage);
    await startRandomRun(stage, FEW).ended;
    const [sessionId] = savedSessions(stage);
    if (sessionId === undefined) throw new Error("The first run has saved nothing.");
    const count = pick(stage.random, [2, 2, 5]);
    const runs = Array.from(
      { length: count },
      () => startRandomRun(stage, [`--continue=${sessionId}`, ...FEW]).ended,
    );
    const exits = await Promise.all(runs);
    for (const { stdout } of exits) await checkSession(stage, toPrintedLines(stdout));
    const path = join(stage.place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
    stage.check("saved", findTornLine(readFileSync(path, "utf8")));
    await checkChildren(stage);
  },
};

function findTornLine(text: string): string | undefined {
  const torn = text.split("\n").find((line) => line !== "" && !isObject(line));
  return torn === undefined ? undefined : `a line that is none: ${torn.slice(0, 200)}`;
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
