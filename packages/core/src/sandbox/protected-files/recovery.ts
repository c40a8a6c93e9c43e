import { z } from "zod";
import { ChangedUntil } from "../../infrastructure/fs/changed-until.ts";
import { takeLeftFiles } from "../../infrastructure/fs/lease-file.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { directoryOf, lookAt } from "../../infrastructure/fs/seen-file.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { findHeldGitDirectories } from "./changes.ts";
import { type JournalLocations, journalStamp } from "./journal.ts";
import { listFirst, ProtectedFileRemedies } from "./quarantine.ts";
import { ProtectedFileScanner } from "./scan.ts";
import { sweep } from "./sweep.ts";
import type { ProtectedFile, ProtectedFileScan } from "./types.ts";

interface RecoveryOptions {
  /** Where the project's journals are; see `protectedFileJournalDirectory`. */
  directory: string;
  /** The project, absolute and real. */
  root: string;
  /** Where unapproved files are moved to. */
  quarantine: string;
  /** Reports to the user, in a sentence. */
  notify?: ((message: string) => void) | undefined;
}

const ENDED = "The last session here was killed";
const UNKNOWN = `${ENDED}, and it is unknown which files its commands created: check for new files such as CLAUDE.md and .env before you trust them`;

/**
 * Recovers from killed sessions of this project: protected files created while their sandboxed commands ran are
 * moved away, and links restored. Later files are the user's own. Each step is reported.
 */
export function recoverInterruptedSessions({ directory, root, quarantine, notify }: RecoveryOptions): void {
  takeLeftFiles(
    directory,
    ({ text, untilMs }) => {
      const journal = parseJournal(text, root);
      const isRecovered = journal && recoverSession({ ...journal, quarantine, notify, lastMs: untilMs });
      if (!isRecovered) notify?.(UNKNOWN);
    },
    (error) => notify?.(`${UNKNOWN} (${systemErrorText(error)})`),
  );
}

const path = z.string().regex(/^\/(?!.*(?:\0|\/\.{1,2}(?:\/|$)))/s);
const identity = z.string().regex(/^\d+:\d+$/);
const located = z.object({ path, identity });
const file = located.extend({ parentIdentity: identity, isByName: z.boolean(), isEstablished: z.boolean() });
const Journal = z.object({
  stamp: z.string(),
  roots: z.array(located),
  ...{
    linked: z.array(path),
    gitDirectories: z.array(path),
    shallowRoots: z.array(path),
    named: z.array(path),
  },
  files: z.array(
    z.discriminatedUnion("kind", [
      file.extend({ kind: z.literal("link"), target: z.string().min(1) }),
      file.extend({ kind: z.enum(["directory", "file"]) }),
    ]),
  ),
  unlistable: z.array(located),
  signs: z.array(located.extend({ names: z.array(z.string()), isRepository: z.boolean() })),
});

/** What a session has kept. */
interface Journal extends JournalLocations {
  scan: ProtectedFileScan;
}

/** Undefined for what is damaged, or that nothing can be compared with: of another version, or of other directories. */
export function parseJournal(text: string, root: string): Journal | undefined {
  const { data } = Journal.safeParse(parseJson(text));
  if (data?.stamp !== journalStamp() || data.roots[0]?.path !== root) return undefined;
  const { roots, linked, gitDirectories, shallowRoots, files, unlistable, signs } = data;
  const places = [...roots.map((one) => one.path), ...linked];
  const isOurs = (one: { path: string }) => places.some((place) => isInside(one.path, place));
  if (![...files, ...unlistable, ...signs].every(isOurs)) return undefined;
  if (roots.some((one) => lookAt(one.path)?.identity !== one.identity)) return undefined;
  const scan: ProtectedFileScan = {
    files: new Map(files.map((one) => [one.path, one])),
    unlistable: new Map(unlistable.map((one) => [one.identity, one])),
    signs: new Map(signs.map((one) => [one.identity, one])),
    named: new Set(data.named),
    ...{
      gitDirectories,
      shallowRoots,
      directories: new Map(),
      skipped: [],
      isWalked: true,
      isComplete: true,
    },
  };
  return { roots: roots.map((one) => one.path), gitDirectories: linked, scan };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Cut off, or somebody else's.
  }
}

interface CutOffSession extends Journal, Pick<RecoveryOptions, "quarantine" | "notify"> {
  /** The moment until which its commands may have been at work, in milliseconds since the epoch. */
  lastMs: number;
  /** As that of `ProtectedFileScannerOptions`. */
  maxDirectories?: number | undefined;
}

/**
 * Recovers from a session that was killed while a process may have been running in its sandbox.
 * @returns false where what there was cannot be compared with what there is: nothing is moved then.
 */
export function recoverSession({ scan: before, lastMs, notify, ...options }: CutOffSession): boolean {
  const { roots } = options;
  const describeAppeared = (name: string) =>
    `${ENDED}, and one of its commands created ${name}, which controls other programs`;
  const remedies = new ProtectedFileRemedies({ ...options, notify, describeAppeared });
  const changed = new ChangedUntil(lastMs);
  using scanner = new ProtectedFileScanner({ ...options, shallowRoots: before.shallowRoots });
  const now = scanner.scan();
  if (!now.isWalked || !isNumberedAlike(before, now)) return false;
  const moved = new Set<string>();
  const { restored, scan } = sweep({ scanner, remedies }, before, {
    heldGitDirectories: findHeldGitDirectories(before.gitDirectories, roots),
    mayReveal: (directory) => changed.isOld(directory.path),
    findAdded: () => [],
    findUnasked(path, file) {
      if (file && mayBeMovedSince(file, before, { roots, changed })) {
        moved.add(remedies.nameOf(path));
        return [];
      }
      const made = changed.findOld(path);
      // Moving something out of a directory changes that.
      for (const one of made) changed.keep(directoryOf(one));
      return made;
    },
    restoreLink(link) {
      // Commands may have removed it, and so may its owner afterwards.
      const isThere = lookAt(link.path) !== undefined;
      const isByCommands = changed.isOld(isThere ? link.path : directoryOf(link.path));
      if (isThere && !isByCommands) return undefined;
      if (isByCommands) changed.keep(directoryOf(link.path));
      const note = isByCommands ? remedies.putBack(link) : undefined;
      return note ?? `the link ${remedies.nameOf(link.path)}, which led to ${link.target}, is gone`;
    },
  });
  if (!scan.isComplete) return false;
  const movedUp = listFirst([...moved]).map(
    (names) =>
      `${names} moved up together with the surrounding directory, and it is unknown who moved it: you, or one of its commands`,
  );
  for (const line of [...restored, ...movedUp]) notify?.(`${ENDED}: ${line}`);
  return true;
}

/**
 * True for what is as it was, with the same directory around it, where a person may have moved that: what is renamed
 * changes itself, not what lies in it.
 */
function mayBeMovedSince(
  { path, identity, parentIdentity }: ProtectedFile,
  before: ProtectedFileScan,
  { roots, changed }: { roots: readonly string[]; changed: ChangedUntil },
): boolean {
  const isIt = (one: ProtectedFile) => one.identity === identity && one.parentIdentity === parentIdentity;
  if (![...before.files.values()].some(isIt)) return false;
  const root = roots.find((one) => isInside(path, one)) ?? "";
  for (let around = directoryOf(path); around.length > root.length; around = directoryOf(around))
    if (!changed.isOld(around)) return true;
  return false;
}

/**
 * False where a file system has given other numbers to what was there, as some do each time they are mounted: everything
 * would look as if it had been exchanged.
 */
function isNumberedAlike(before: ProtectedFileScan, after: ProtectedFileScan): boolean {
  const held = [...before.files.values()].filter(({ kind }) => kind !== "link");
  const isExchanged = held.some(({ path, identity, parentIdentity }) => {
    const one = after.files.get(path);
    return one && one.identity !== identity && one.parentIdentity !== parentIdentity;
  });
  const identities = new Set([...after.files.values()].map((one) => one.identity));
  return !isExchanged || held.some((one) => identities.has(one.identity));
}
