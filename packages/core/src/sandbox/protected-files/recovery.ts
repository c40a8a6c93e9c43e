import { lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isOwn } from "../../infrastructure/fs/directory.ts";
import { isOpenToOthers, readSmallText } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { isProcessAlive } from "../../infrastructure/process/tree.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { ChangedUntil, findHeldGitDirectories, findProtectedFileChanges } from "./changes.ts";
import { lookEverywhere } from "./guard.ts";
import { type Journal, parseJournal, parseJournalName } from "./journal.ts";
import { ListingRestorer, ProtectedFileRemedies } from "./quarantine.ts";
import { ProtectedFileScanner } from "./scan.ts";
import { lookAt, type ProtectedFile, type ProtectedFileScan } from "./types.ts";

interface RecoveryOptions {
  /** Where the project's journals are; see `protectedFileJournalDirectory`. */
  directory: string;
  /** The project, absolute and real. */
  root: string;
  /** Where unapproved files are moved to. */
  quarantine: string;
  /** Tells the user, in a sentence. */
  notify?: ((message: string) => void) | undefined;
}

const MAX_JOURNAL_BYTES = 4 * 1024 * 1024;

const CANNOT_BE_TOLD =
  "The last session here was killed, and it is unknown which files its commands created: check for new files such as CLAUDE.md and .env before you trust them";

/**
 * Recovers from killed sessions of this project: protected files created while their sandboxed commands ran are
 * moved away, and links restored. Later files are the user's own. Each step is reported.
 */
export function recoverInterruptedSessions(options: RecoveryOptions): void {
  const { directory } = options;
  for (const name of namesIn(directory)) {
    const isDraft = name.endsWith(".draft");
    const holder = parseJournalName(isDraft ? name.slice(0, -".draft".length) : name);
    if (holder === undefined || isProcessAlive(holder)) continue;
    const path = join(directory, name);
    try {
      if (!isDraft) recoverAfter(path, options);
      rmSync(path, { force: true });
    } catch (error) {
      options.notify?.(`${CANNOT_BE_TOLD} (${systemErrorText(error)})`);
    }
  }
  try {
    rmdirSync(directory);
  } catch {
    // Sessions that live keep theirs in it.
  }
}

function recoverAfter(path: string, { root, quarantine, notify }: RecoveryOptions): void {
  const lastMs = lastMomentOf(path);
  if (lastMs === undefined) return;
  const journal = parseJournal(readSmallText(path, MAX_JOURNAL_BYTES) ?? "", root);
  const canBeTold =
    typeof journal === "object" && new CutOffSession({ ...journal, lastMs, quarantine, notify }).recover();
  if (!canBeTold) notify?.(CANNOT_BE_TOLD);
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

interface CutOffSessionOptions extends Journal {
  /** The moment until which its commands may have been at work, in milliseconds since the epoch. */
  lastMs: number;
  /** Where unapproved files are moved to. */
  quarantine: string;
  /** Tells the user, in a sentence. */
  notify?: ((message: string) => void) | undefined;
  /** As that of `ProtectedFileScannerOptions`. */
  maxDirectories?: number;
}

const MAX_NAMED = 5;

// Each shows what the settings hid that the one before met.
const MAX_LOOKS = 4;

const ENDED = "The last session here was killed";

/** A session that was killed while a process may have been running in its sandbox. */
export class CutOffSession {
  private readonly remedies: ProtectedFileRemedies;
  private readonly changed: ChangedUntil;

  constructor(private readonly options: CutOffSessionOptions) {
    this.remedies = new ProtectedFileRemedies({
      ...options,
      describeAppeared: (name) =>
        `${ENDED}, and one of its commands created ${name}, which controls other programs`,
    });
    this.changed = new ChangedUntil(options.lastMs);
  }

  /** False where what there was cannot be compared with what there is: nothing is moved then. */
  recover(): boolean {
    const { look: before, roots, gitDirectories } = this.options;
    const restorer = new ListingRestorer(
      ({ identity, path }) => before.unlistable.has(identity) || !this.changed.isOld(path),
    );
    const { maxDirectories } = this.options;
    const limits = maxDirectories === undefined ? {} : { maxDirectories };
    const watch = new ProtectedFileScanner({
      roots,
      gitDirectories,
      shallowRoots: before.shallowRoots,
      ...limits,
    });
    const look = () => lookEverywhere(watch, before, restorer.reveal).look;
    let after = look();
    for (let looks = 1; looks < MAX_LOOKS && after.isWalked && !after.isComplete; looks += 1) {
      // Settings that its commands made may name so much; without these there is less to look at.
      if (!isNumberedAlike(before, after)) return false;
      this.moveAway(this.findUnasked(after).unasked);
      after = look();
    }
    if (!after.isComplete || !isNumberedAlike(before, after)) return false;
    const { unasked, moved, lostLinks } = this.findUnasked(after);
    // Before anything is moved, which changes the directories too.
    const links = lostLinks.map((link) => ({ link, fate: this.findFate(link) }));
    this.moveAway(unasked);
    const notes = links.flatMap(({ link, fate }) => this.restoreLink(link, fate));
    // What its commands made behind a link that was away counts again.
    if (notes.length > 0) this.moveAway(this.findUnasked(look()).unasked);
    const lines = [
      ...restorer.describe((path) => this.remedies.nameOf(path)),
      ...notes,
      ...this.describeMoved(moved),
    ];
    for (const line of lines) this.options.notify?.(`${ENDED}: ${line}`);
    return true;
  }

  private moveAway(paths: readonly string[]): void {
    for (const path of paths) this.changed.keep(directoryOf(path));
    this.remedies.moveAway(paths);
  }

  private findUnasked(after: ProtectedFileScan) {
    const { look: before, roots } = this.options;
    const held = findHeldGitDirectories(before.gitDirectories, roots);
    const { planted, appeared, lostLinks } = findProtectedFileChanges(before, after, held);
    const moved = appeared.filter((file) => this.mayBeMovedSince(file));
    const made = appeared.filter((file) => !moved.includes(file)).map(({ path }) => path);
    const parts = planted.flatMap((repository) => repository.parts);
    return { unasked: [...parts, ...made].flatMap((path) => this.changed.findOld(path)), moved, lostLinks };
  }

  /**
   * True for what is as it was, with the same directory around it, where a person may have moved that: what is renamed
   * changes itself, not what lies in it.
   */
  private mayBeMovedSince({ path, identity, parentIdentity }: ProtectedFile): boolean {
    const { look, roots } = this.options;
    const isIt = (file: ProtectedFile) =>
      file.identity === identity && file.parentIdentity === parentIdentity;
    if (![...look.files.values()].some(isIt)) return false;
    const root = roots.find((one) => isInside(path, one)) ?? "";
    for (let around = directoryOf(path); around.length > root.length; around = directoryOf(around))
      if (!this.changed.isOld(around)) return true;
    return false;
  }

  private describeMoved(moved: readonly ProtectedFile[]): string[] {
    if (moved.length === 0) return [];
    const names = moved.slice(0, MAX_NAMED).map(({ path }) => this.remedies.nameOf(path));
    const more = moved.length > MAX_NAMED ? ` and ${moved.length - MAX_NAMED} more` : "";
    return [
      `${names.join(", ")}${more} moved up together with the surrounding directory, and it is unknown who moved it: you, or one of its commands`,
    ];
  }

  /** What became of a link: commands may take it away, and so may its owner afterwards. */
  private findFate({ path }: ProtectedFile): "taken" | "gone" | "replaced since" {
    if (lookAt(path)) return this.changed.isOld(path) ? "taken" : "replaced since";
    return this.changed.isOld(directoryOf(path)) ? "taken" : "gone";
  }

  private restoreLink(link: ProtectedFile, fate: ReturnType<CutOffSession["findFate"]>): string[] {
    if (fate === "replaced since") return [];
    if (fate === "taken") this.changed.keep(directoryOf(link.path));
    const note = fate === "taken" ? this.remedies.putBack(link) : undefined;
    return [note ?? `the link ${this.remedies.nameOf(link.path)}, which led to ${link.target}, is gone`];
  }
}

/** As `dirname`, which loses the bytes of a name that is no text. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/**
 * False where a file system has given other numbers to what was there, as some do each time they are mounted: everything
 * would look as if it had been exchanged.
 */
function isNumberedAlike(before: ProtectedFileScan, after: ProtectedFileScan): boolean {
  const held = [...before.files.values()].filter(({ kind }) => kind !== "link");
  const isExchanged = held.some(({ path, identity, parentIdentity }) => {
    const file = after.files.get(path);
    return file && file.identity !== identity && file.parentIdentity !== parentIdentity;
  });
  const identities = new Set([...after.files.values()].map(({ identity }) => identity));
  return !isExchanged || held.some(({ identity }) => identities.has(identity));
}
