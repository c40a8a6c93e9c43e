import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { between, pick } from "../chance.ts";
import { checkNextRequest } from "../look-after.ts";
import { prepareRandomRuns, savedSessions, startRandomRun } from "../random-run.ts";
import type { FaultTrial } from "../trial.ts";

/** A session file as a bad disk, an editor or a sync program may leave it. It opens, and nothing of it is rewritten. */
export const DAMAGED_FILE: FaultTrial = {
  name: "damaged-file",
  about: "random damage to a session file: cut, zeroed, overwritten, lines lost, doubled or swapped",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    await startRandomRun(stage, ["--max-turns", "4"]).ended;
    const [sessionId] = savedSessions(stage);
    if (sessionId === undefined) throw new Error("The run has saved nothing.");
    const path = join(place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
    const damaged = damage(readFileSync(path), random);
    writeFileSync(path, damaged);
    check(
      "opens",
      failureOf(() => readSessionFile(path)),
    );
    await checkNextRequest(stage, sessionId);
    const isKept = readFileSync(path).subarray(0, damaged.length).equals(damaged);
    check("exact", isKept ? undefined : "what was in the file was rewritten");
  },
};

/** The first line stays: a file without one is no session, which is another matter. */
function damage(whole: Buffer, random: () => number): Buffer {
  const first = whole.indexOf("\n") + 1;
  const at = between(random, first, whole.length);
  switch (pick(random, ["cut", "zeros", "bytes", "lost", "doubled", "swapped"])) {
    case "cut":
      return whole.subarray(0, at);
    case "zeros":
      return Buffer.concat([whole.subarray(0, at), Buffer.alloc(between(random, 1, 5_000))]);
    case "bytes": {
      const bytes = Buffer.from(whole);
      for (let count = between(random, 1, 20); count > 0; count--) {
        bytes[between(random, first, bytes.length - 1)] = between(random, 0, 255);
      }
      return bytes;
    }
    default:
      return mixLines(whole, random);
  }
}

function mixLines(whole: Buffer, random: () => number): Buffer {
  const [header = "", ...lines] = whole.toString("utf8").split("\n").slice(0, -1);
  const at = between(random, 0, lines.length - 1);
  const chosen = lines[at] ?? "";
  const mixed = pick(random, [
    lines.toSpliced(at, 1),
    lines.toSpliced(at, 0, chosen),
    [...lines.toSpliced(at, 1), chosen],
  ]);
  return Buffer.from([header, ...mixed].map((line) => `${line}\n`).join(""));
}

function failureOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
