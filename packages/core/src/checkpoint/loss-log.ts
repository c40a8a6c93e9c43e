import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { withFileLock } from "../infrastructure/fs/lock.ts";
import { describeLoss, isStillLost, type LostHistory } from "./lost-history.ts";

/** One session's losses, as a line of the file. */
interface Loss {
  sessionId: string;
  lost: readonly LostHistory[];
}

/** Remembers what a session took away from repositories, until it is back. @throws errors of the file system. */
export async function recordLoss(path: string, loss: Loss): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await withFileLock(path, () => appendFileSync(path, `${JSON.stringify(loss)}\n`, { mode: 0o600 }));
}

/** Forgets the losses of a session: they were undone, or it was deleted. @throws errors of the file system. */
export async function forgetLosses(path: string, sessionId: string): Promise<void> {
  await withFileLock(path, () => keepLosses(path, (loss) => loss.sessionId !== sessionId));
}

/**
 * What earlier runs have taken away from the repositories of a project and is still missing, in a sentence; undefined if
 * nothing is. A session is told of all that it did, every other one of what makes a repository unusable.
 */
export async function describeMissing(
  path: string,
  { root, sessionId }: { root: string; sessionId: string },
): Promise<string | undefined> {
  const missing = await withFileLock(path, () =>
    keepLosses(path, ({ lost }) => lost.some((each) => isStillLost(root, each))),
  );
  const own = missing.filter((loss) => loss.sessionId === sessionId);
  const shown = own.length > 0 ? own : missing.filter(({ lost }) => isSevere(root, lost));
  const lost = shown.flatMap((loss) => loss.lost).filter((each) => isStillLost(root, each));
  if (lost.length === 0) return undefined;
  const who = own.length > 0 ? "A command of this session" : "A command of an earlier session";
  return `${who} removed ${describeLoss(lost)}, still missing: diligent undo restores what it removed.`;
}

function isSevere(root: string, lost: readonly LostHistory[]): boolean {
  return lost.some((each) => isStillLost(root, each, { isSevereOnly: true }));
}

/** Keeps those lines in the file; without any there is no file. */
function keepLosses(path: string, isKept: (loss: Loss) => boolean): Loss[] {
  const all = readLosses(path);
  const kept = all.filter(isKept);
  if (kept.length === 0) rmSync(path, { force: true });
  else if (kept.length < all.length)
    writeFileSync(path, kept.map((loss) => `${JSON.stringify(loss)}\n`).join(""), { mode: 0o600 });
  return kept;
}

function readLosses(path: string): Loss[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .flatMap((line) => parseLoss(line) ?? []);
  } catch {
    return []; // There is no such file: nothing was lost.
  }
}

/** Undefined for an empty, torn or unknown line. */
function parseLoss(line: string): Loss | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("sessionId" in value) || typeof value.sessionId !== "string" || !("lost" in value))
      return undefined;
    const lost: readonly unknown[] = Array.isArray(value.lost) ? value.lost : [];
    return { sessionId: value.sessionId, lost: lost.filter(isLostHistory) };
  } catch {
    return undefined;
  }
}

function isLostHistory(value: unknown): value is LostHistory {
  if (typeof value !== "object" || value === null) return false;
  const { gitDirectory, isHeadLost, refs, objects, samples }: Partial<Record<keyof LostHistory, unknown>> =
    value;
  const isComplete = typeof gitDirectory === "string" && typeof isHeadLost === "boolean";
  return isComplete && typeof objects === "number" && isTextList(refs) && isTextList(samples);
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
