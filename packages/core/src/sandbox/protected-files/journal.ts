import { LeaseFile } from "../../infrastructure/fs/lease-file.ts";
import { lookAt } from "../../infrastructure/fs/seen-file.ts";
import { protectedListStamp } from "../../infrastructure/paths/protected-files.ts";
import type { ProtectedFileScan } from "./types.ts";

// Twice as long as the time between two touches; more, and what the user makes after a session was killed counts as its.
const LEASE_MS = 4_000;

// A scan that finds more lets no command run.
const MAX_FILES = 2_000;

// Changes with what the lines below say, and with what is scanned.
const VERSION = 6;

/** Where the commands of a session may write; see `ProtectedFileGuardOptions`. */
export interface JournalLocations {
  /** The project first. */
  roots: readonly string[];
  gitDirectories: readonly string[];
}

/**
 * The state of protected files before sandboxed commands, in a file of the state directory: a killed session does
 * not recover anything, so a later one has to detect new files. The lease says until when commands may be running.
 */
export class ProtectedFileJournal extends LeaseFile {
  /** @param directory the project's own; see `protectedFileJournalDirectory`. It need not exist. */
  constructor(
    directory: string,
    private readonly locations: JournalLocations,
  ) {
    super(directory, LEASE_MS);
  }

  /** A scan that is not complete does not replace one that is; one that is too large is not kept. */
  keepScan(scan: ProtectedFileScan): void {
    if (!scan.isComplete) return;
    if (scan.files.size > MAX_FILES) this.drop();
    else this.keep(formatJournal(scan, this.locations));
  }
}

export function formatJournal(scan: ProtectedFileScan, { roots, gitDirectories }: JournalLocations): string {
  return JSON.stringify({
    stamp: journalStamp(),
    roots: roots.map((path) => ({ path, identity: lookAt(path)?.identity })),
    linked: gitDirectories,
    ...{ gitDirectories: scan.gitDirectories, shallowRoots: scan.shallowRoots, named: [...scan.named] },
    files: [...scan.files.values()],
    unlistable: [...scan.unlistable.values()],
    signs: [...scan.signs.values()],
  });
}

/** Differs where nothing can be compared with an older journal. */
export function journalStamp(): string {
  return `${VERSION} ${protectedListStamp()}`;
}
