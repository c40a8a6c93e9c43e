import { lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProcessAlive } from "../../infrastructure/processes/process-identity.ts";
import { isOwn } from "../../infrastructure/reading/listing-rights.ts";
import { isOpenToOthers } from "../../infrastructure/reading/ownership.ts";
import { readSmallText } from "../../infrastructure/reading/small-text.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { CutOffSession } from "./cut-off-session.ts";
import { parseJournal, parseJournalName } from "./journal-text.ts";

export interface TidyOptions {
  /** Where the project's journals are; see `controlJournalDirectory`. */
  directory: string;
  /** The project, absolute and real. */
  root: string;
  /** Where what came about unasked is moved to. */
  quarantine: string;
  /** Tells the user, in a sentence. */
  tell?: ((message: string) => void) | undefined;
}

const MAX_JOURNAL_BYTES = 4 * 1024 * 1024;

const CANNOT_BE_TOLD =
  "The last session here ended without tidying up, and it cannot be told any more what its commands made: look for new files such as CLAUDE.md and .env before you trust them";

/**
 * Tidies up after sessions of this project that were killed: control files that came about while their boxed commands
 * were at work are moved away, and links put back. What came later is the user's own. What is done is told.
 */
export function tidyCutOffSessions(options: TidyOptions): void {
  const { directory } = options;
  for (const name of namesIn(directory)) {
    const isDraft = name.endsWith(".draft");
    const holder = parseJournalName(isDraft ? name.slice(0, -".draft".length) : name);
    if (holder === undefined || isProcessAlive(holder)) continue;
    const path = join(directory, name);
    try {
      if (!isDraft) tidyAfter(path, options);
      rmSync(path, { force: true });
    } catch (error) {
      options.tell?.(`${CANNOT_BE_TOLD} (${systemErrorText(error)})`);
    }
  }
  try {
    rmdirSync(directory);
  } catch {
    // Sessions that live keep theirs in it.
  }
}

function tidyAfter(path: string, { root, quarantine, tell }: TidyOptions): void {
  const lastMs = lastMomentOf(path);
  if (lastMs === undefined) return;
  const journal = parseJournal(readSmallText(path, MAX_JOURNAL_BYTES) ?? "", root);
  const canBeTold =
    typeof journal === "object" && new CutOffSession({ ...journal, lastMs, quarantine, tell }).tidy();
  if (!canBeTold) tell?.(CANNOT_BE_TOLD);
}

/** Until when commands may have been at work; undefined for a file that somebody else may have written. */
function lastMomentOf(path: string): number | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats?.isFile() || !isOwn(stats) || isOpenToOthers(stats)) return undefined;
  return Number(stats.mtimeMs);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // No session was killed here, and none runs commands.
  }
}
