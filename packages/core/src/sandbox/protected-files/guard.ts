import { monotonicMs, now, sleep } from "../../infrastructure/runtime.ts";
import {
  ChangedUntil,
  findHeldGitDirectories,
  findProtectedFileChanges,
  findUnconsented,
  type ProtectedFileChanges,
} from "./changes.ts";
import { findOutOfSight, withoutRepositories } from "./directory.ts";
import type { ProtectedFileJournal } from "./journal.ts";
import { ListingRestorer, ProtectedFileRemedies, type ProtectedFileRemediesOptions } from "./quarantine.ts";
import type { QuietTimes } from "./quiet-times.ts";
import { ProtectedFileScanner, type Reveal } from "./scan.ts";
import {
  asBefore,
  lookAt,
  type ProtectedFile,
  type ProtectedFileScan,
  type UnlistableDirectory,
  withExpected,
  withoutFiles,
} from "./types.ts";

/** Nobody can tell who made it: a command, or the user beside it. */
function describeAppeared(name: string): string {
  return `${name}, which controls other programs, appeared while a command ran`;
}

interface ProtectedFileGuardOptions extends Omit<ProtectedFileRemediesOptions, "describeAppeared"> {
  /** Git directories elsewhere that commands may write to. */
  gitDirectories: readonly string[];
  /** Saves the state for a later session, in case this one is killed; undefined if nothing can be saved. */
  journal?: ProtectedFileJournal | undefined;
  /** Knows what no command can have made; left out, everything that appears while one runs counts as a command's. */
  quietTimes?: QuietTimes | undefined;
  /** As that of `ProtectedFileScannerOptions`. */
  maxDirectories?: number;
}

const INSPECT_EVERY_MS = 2_000;

// What bubblewrap started ends a moment after bubblewrap itself when that is killed.
const EXIT_GRACE_MS = 50;
const MAX_LAST_LOOKS = 20;
const RECENT_MS = 2_000;

const AMBIGUOUS =
  "a background process was running in the sandbox, so it is unknown who created it: stop that process first";

/** Sees to it that boxed commands bring about no control files: what appears is moved away and said. */
export class ProtectedFileGuard {
  private readonly roots: readonly string[];
  private readonly watch: ProtectedFileScanner;
  private readonly remedies: ProtectedFileRemedies;
  private readonly sweep: ProtectedFileSweep;
  private readonly journal: ProtectedFileJournal | undefined;
  private readonly quietTimes: QuietTimes | undefined;
  /** The approved state: never includes unapproved files, even if they still exist or were created again. */
  private last: ProtectedFileScan | undefined;
  /** Commands that have not returned. */
  private inForeground = 0;
  /** Commands that have returned but may still have running processes. */
  private runningOn = 0;
  /** When what ran in the background last ended, on the monotonic clock. */
  private endedAtMs = Number.NEGATIVE_INFINITY;
  /** The same for all commands, on the file system's clock. */
  private quietSinceMs = 0;
  /** True while it is not known what commands made, as in too many directories: `last` is still to be compared with. */
  private isBehind = false;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Changes made between commands that the model does not know yet. */
  private pending: string[] = [];
  /** Git directories that were there when nothing ran, so that every command since has had them held in place. */
  settledGitDirectories: ReadonlySet<string> = new Set();
  private writtenFiles: () => readonly string[] = () => [];

  constructor({ journal, quietTimes, ...options }: ProtectedFileGuardOptions) {
    this.roots = options.roots;
    this.watch = new ProtectedFileScanner(options);
    this.remedies = new ProtectedFileRemedies({ ...options, describeAppeared });
    this.sweep = new ProtectedFileSweep(this.watch, this.remedies);
    this.journal = journal;
    this.quietTimes = quietTimes;
  }

  /** Where the files were that were moved away so far; absolute. */
  get movedPaths(): readonly string[] {
    return this.remedies.movedPaths;
  }

  /** The current state, without any reaction to it. */
  snapshot(): ProtectedFileScan {
    return this.watch.look();
  }

  /** Scans before a command. @param writtenFiles approved files, which may stay. */
  begin(writtenFiles: () => readonly string[]): ProtectedFileScan {
    this.writtenFiles = writtenFiles;
    this.inspect();
    const look = this.lookBefore();
    this.settle(look);
    // Else nothing will run.
    if (look.isComplete) this.journal?.extend();
    const isQuiet = this.runningOn === 0 && this.inForeground === 0 && !this.isBehind;
    const isSettled = (directory: string) => isQuiet || this.settledGitDirectories.has(directory);
    this.settledGitDirectories = new Set(look.gitDirectories.filter(isSettled));
    this.inForeground += 1;
    this.quietTimes?.watch();
    this.timer ??= setInterval(() => this.passTime(), INSPECT_EVERY_MS).unref();
    return look;
  }

  /** In the place of `finish`, for a command that was not started. */
  abandon(): void {
    this.inForeground -= 1;
    this.rest();
  }

  /** The reactions after a command, one line each. `end` resolves when no process of it runs any more. */
  finish(end: Promise<unknown>): string[] {
    this.inForeground -= 1;
    this.runningOn += 1;
    const beganAtMs = monotonicMs();
    void end.then(() => {
      this.tryToInspect();
      this.runningOn -= 1;
      this.quietSinceMs = now() + EXIT_GRACE_MS;
      if (monotonicMs() - beganAtMs > EXIT_GRACE_MS) this.endedAtMs = monotonicMs();
      this.rest();
    });
    // The command has begun, so there was a look that was whole.
    if (this.last) this.pending.push(...this.takeAway(this.last));
    this.journal?.extend();
    return this.takePending();
  }

  /** Between two commands only what runs in the background, or somebody outside, makes control files. */
  inspect(options: { mayReveal?: boolean } = {}): void {
    if (this.last && (this.runningOn > 0 || this.isBehind))
      this.pending.push(...this.takeAway(this.last, options));
  }

  private tryToInspect(options: { mayReveal?: boolean } = {}): void {
    try {
      this.inspect(options);
    } catch {
      this.isBehind = true; // Files that cannot be scanned now are scanned next time.
    }
  }

  /**
   * Accepts files created since the last scan, unless a running sandboxed command may have created them. @returns a
   * line for each file that was moved away.
   */
  accept(): string[] {
    if (this.last === undefined) return [];
    if (this.runningOn === 0) {
      this.inspect();
      if (!this.isBehind) this.settle(this.watch.look());
    } else this.pending.push(...this.takeAway(this.last).map((note) => `${note} (${AMBIGUOUS})`));
    return this.takePending();
  }

  /** Call this when everything has ended: moves away files left by background processes. */
  async close(): Promise<void> {
    this.stopTimer();
    await this.lookAgain().catch(() => {
      this.isBehind = true;
    });
    // What is not known now, the next session may find out.
    if (!this.isBehind) this.journal?.end();
  }

  private async lookAgain(): Promise<void> {
    const hasRunOn = this.runningOn > 0 || monotonicMs() - this.endedAtMs < RECENT_MS;
    if (!(hasRunOn || this.isBehind) || this.last === undefined) return;
    this.takeAway(this.last);
    if (!hasRunOn) return;
    let isClean = false;
    for (let looks = 0; !isClean && looks < MAX_LAST_LOOKS; looks += 1) {
      await sleep(EXIT_GRACE_MS);
      isClean = this.takeAway(this.last).length === 0;
    }
  }

  private lookBefore(): ProtectedFileScan {
    if (this.last && this.isBehind) return { ...this.last, isComplete: false };
    // While something runs on, what a look finds now may be its work.
    return this.last && this.runningOn > 0 ? this.last : this.watch.look();
  }

  /** Only with one that is complete can be compared later. */
  private settle(look: ProtectedFileScan): void {
    if (!look.isComplete) return;
    this.last = look;
    this.journal?.keep(look);
  }

  /**
   * What is done every two seconds while something of commands runs. What runs on may be using directories that it cannot
   * list itself: they are left to it until the next command.
   */
  passTime(): void {
    this.journal?.extend();
    this.tryToInspect({ mayReveal: false });
  }

  private rest(): void {
    if (this.inForeground > 0 || this.runningOn > 0) return;
    this.stopTimer();
    this.journal?.rest();
  }

  private takePending(): string[] {
    const notes = this.pending;
    this.pending = [];
    return notes;
  }

  private stopTimer(): void {
    this.quietTimes?.stop();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private takeAway(before: ProtectedFileScan, { mayReveal = true } = {}): string[] {
    // Where nothing has run for a while, what came later is the user's own.
    const isLate = this.isBehind && this.runningOn === 0 && this.inForeground === 0;
    const changed = isLate ? new ChangedUntil(this.quietSinceMs) : undefined;
    this.quietTimes?.sample();
    const { look, notes } = this.sweep.run(before, {
      written: this.writtenFiles(),
      mayReveal,
      heldGitDirectories: findHeldGitDirectories(this.settledGitDirectories, this.roots),
      findSuspects: (path) => changed?.findOld(path) ?? this.quietTimes?.findSuspects(path) ?? [path],
    });
    const hasBeenSaid = this.isBehind;
    this.isBehind = !look.isComplete;
    this.settle(look);
    return this.isBehind && !hasBeenSaid ? [...notes, this.remedies.notifyOverfull()] : notes;
  }
}

interface SweepOptions {
  /** What was written with consent, which may stay; absolute. */
  written: readonly string[];
  /** False where directories that cannot be listed stay so. */
  mayReveal: boolean;
  /** Git directories that no command has been able to exchange. */
  heldGitDirectories: readonly string[];
  /** The outermost paths at a location that a command may have created. */
  findSuspects?: ((path: string) => string[]) | undefined;
}

/** What was found and done in one sweep. */
interface SweepResult {
  /** A line for each thing that was done, for the model. */
  notes: string[];
  /** The current state, without unapproved files. */
  look: ProtectedFileScan;
}

/** Compares the protected files with their previous state, and restores it. */
export class ProtectedFileSweep {
  constructor(
    private readonly watch: ProtectedFileScanner,
    private readonly remedies: ProtectedFileRemedies,
  ) {}

  run(before: ProtectedFileScan, options: SweepOptions): SweepResult {
    const { look, notes, linksBack } = this.runOnce(before, options);
    if (linksBack === 0 || !look.isComplete) return { look, notes };
    // What was made behind a link that was away counts again.
    const behind = this.runOnce(look, options);
    return { look: behind.look, notes: [...notes, ...behind.notes] };
  }

  private runOnce(before: ProtectedFileScan, options: SweepOptions): SweepResult & { linksBack: number } {
    const wasThere = ({ identity }: UnlistableDirectory) => before.unlistable.has(identity);
    const restorer = new ListingRestorer((directory) => !options.mayReveal || wasThere(directory));
    const { look, lost } = lookEverywhere(this.watch, before, restorer.reveal);
    // What lost its listing again in this moment is opened with a later look.
    const after = withExpected(look, before, (found) => wasThere(found) || restorer.isStuck(found));
    const changes = findProtectedFileChanges(before, after, options.heldGitDirectories);
    const { notes, unasked, planted } = this.takeAway(changes, options, before);
    const links = this.putBack(changes, before);
    const stuck = unasked.filter((path) => lookAt(path) !== undefined);
    const left = asBefore(withoutFiles(withoutRepositories(after, planted, before), unasked), before, stuck);
    const isConsented = ({ path }: ProtectedFile) => options.written.includes(path);
    return {
      linksBack: links.notes.length,
      // What only a command's settings name is not to count with the next ones.
      look: { ...left, files: new Map([...links.back, ...left.files]), named: before.named },
      notes: [
        ...restorer.describe((path) => this.remedies.nameOf(path)),
        ...this.remedies.notifyLost(lost),
        ...notes,
        ...links.notes,
        ...this.remedies.notifyReplaced(changes.replaced.filter((file) => !isConsented(file))),
      ],
    };
  }

  private takeAway(
    { planted, appeared }: ProtectedFileChanges,
    { written, findSuspects }: SweepOptions,
    before: ProtectedFileScan,
  ) {
    const suspectsAt = findSuspects ?? ((path: string) => [path]);
    const findUnasked = (path: string) =>
      findUnconsented(path, written).flatMap((unconsented) => suspectsAt(unconsented));
    const disarmed = planted.filter(({ parts }) => parts.some((path) => findUnasked(path).length > 0));
    const parts = disarmed.flatMap((repository) => repository.parts.flatMap(findUnasked));
    const unasked = appeared.flatMap(({ path }) => findUnasked(path));
    const isLeft = ({ path }: ProtectedFile) =>
      !before.files.has(path) && findUnconsented(path, written).length > 0 && findUnasked(path).length === 0;
    const notes = [
      ...this.remedies.moveAway([...new Set([...parts, ...unasked])]),
      ...this.remedies.notifyLeft(appeared.filter(isLeft)),
    ];
    return { notes, unasked, planted: disarmed };
  }

  private putBack({ lostLinks }: ProtectedFileChanges, before: ProtectedFileScan) {
    const restored = lostLinks.flatMap((link) => {
      const note = this.remedies.putBack(link);
      return note === undefined ? [] : [{ path: link.path, note }];
    });
    const paths = new Set(restored.map(({ path }) => path));
    // With a link what it leads to is there again.
    const isBack = ({ path, reasons = [] }: ProtectedFile) =>
      paths.has(path) || reasons.flat().some((one) => paths.has(one));
    const back = [...before.files].filter(([, file]) => isBack(file));
    return { back, notes: restored.map(({ note }) => note) };
  }
}

// One who hides directories in each other gets no further looks for it.
const MAX_LOOKS = 4;

/**
 * Looks, and again where directories that were in sight before are found to be out of it now: they are followed there.
 * `lost` are control files that may be anywhere.
 */
export function lookEverywhere(
  watch: ProtectedFileScanner,
  before: ProtectedFileScan,
  reveal: Reveal,
): { look: ProtectedFileScan; lost: readonly ProtectedFile[] } {
  const isKnown = ({ identity }: UnlistableDirectory) => before.unlistable.has(identity);
  let look = watch.look(reveal);
  for (let looks = 1; looks < MAX_LOOKS; looks += 1) {
    // What is still to be opened may hold what is missing.
    if (!look.isComplete || ![...look.unlistable.values()].every(isKnown)) break;
    const { found, lost, isComplete } = findOutOfSight(before, look);
    if (found.length === 0) return { look, lost: isComplete ? [] : lost };
    watch.follow(found);
    look = watch.look(reveal);
  }
  return { look, lost: [] };
}
