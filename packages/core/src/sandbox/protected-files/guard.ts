import { ChangedUntil } from "../../infrastructure/fs/changed-until.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { lookAt } from "../../infrastructure/fs/seen-file.ts";
import { explainUsedLater } from "../../infrastructure/paths/protected-files.ts";
import type { SandboxActivity } from "../../infrastructure/process/sandbox-activity.ts";
import type { ProtectedAccess } from "../../infrastructure/process/shell-wrapper.ts";
import { monotonicMs, now, sleep } from "../../infrastructure/runtime.ts";
import { findHeldGitDirectories, findUnconsented, findUnopened } from "./changes.ts";
import type { ProtectedFileJournal } from "./journal.ts";
import { ProtectedFileRemedies, type ProtectedFileRemediesOptions } from "./quarantine.ts";
import { ProtectedFileScanner } from "./scan.ts";
import { sweep } from "./sweep.ts";
import type { ProtectedFile, ProtectedFileScan } from "./types.ts";

interface ProtectedFileGuardOptions extends Omit<ProtectedFileRemediesOptions, "describeAppeared"> {
  /** Git directories elsewhere that commands may write to. */
  gitDirectories: readonly string[];
  /** Saves the state for a later session, in case this one is killed; undefined if nothing can be saved. */
  journal?: ProtectedFileJournal | undefined;
  /** Knows what no command can have made; left out, everything that appears while one runs counts as a command's. */
  activity?: SandboxActivity | undefined;
  /** As that of `ProtectedFileScannerOptions`. */
  maxDirectories?: number;
}

const INSPECT_EVERY_MS = 1_000;

// What bubblewrap started ends a moment after bubblewrap itself when that is killed.
const EXIT_GRACE_MS = 50;
const MAX_LAST_SWEEPS = 20;
const RECENT_MS = 2_000;

const AMBIGUOUS =
  "a background process was running in the sandbox, so it is unknown who created it: stop that process first";
const LEFT = "appeared while a command ran. No command created it, so it was left in place";
const UNCLEAR =
  "appeared while commands were at work, and it is unknown whether one of them created it, so it was left in place; check it";
const LOST =
  "cannot be found any more, and may be in a directory that is not scanned, such as node_modules: it is not protected there";
const REPLACED = "replaced from outside while the command ran";
const TOO_MANY =
  "there are now too many directories to scan, so it is unknown what commands created in them: no command runs in the sandbox until there are fewer";

/** Prevents sandboxed commands from creating protected files: what appears is moved away and reported. */
export class ProtectedFileGuard {
  private readonly scanner: ProtectedFileScanner;
  private readonly remedies: ProtectedFileRemedies;
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
  /** True while it is unknown what commands made, as in too many directories: `last` is still to be compared with. */
  private isBehind = false;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Changes made between commands that the model does not know yet. */
  private readonly pending: string[] = [];
  /** Git directories that were there when nothing ran, so that every command since has had them held in place. */
  settledGitDirectories: ReadonlySet<string> = new Set();
  /** Directories that appeared with these approved files while something ran, which can write beside them. */
  private readonly openDirectories = new Map<string, readonly string[]>();
  private writtenFiles: () => readonly string[] = () => [];
  /** What the last command may do. */
  private access: ProtectedAccess | undefined;

  constructor(private readonly options: ProtectedFileGuardOptions) {
    this.scanner = new ProtectedFileScanner(options);
    // Nobody can tell who made it: a command, or the user beside it.
    const describeAppeared = (name: string) =>
      `${name}, which controls other programs, appeared while a command ran`;
    this.remedies = new ProtectedFileRemedies({ ...options, describeAppeared });
  }

  /** Where the files were that were moved away so far; absolute. */
  get movedPaths(): readonly string[] {
    return this.remedies.movedPaths;
  }

  /** The current state, without any reaction to it. */
  snapshot(): ProtectedFileScan {
    return this.scanner.scan();
  }

  /** Scans before a command. @param writtenFiles approved files, which may stay. @param access what it may do. */
  begin(writtenFiles: () => readonly string[], access?: ProtectedAccess): ProtectedFileScan {
    this.writtenFiles = writtenFiles;
    // What has appeared so far is the work of earlier commands.
    this.inspect();
    this.access = access;
    // While something runs on, what a scan finds now may be its work.
    const isOpen = this.runningOn > 0 || this.isBehind;
    const scan = this.last && isOpen ? { ...this.last, isComplete: !this.isBehind } : this.scanner.scan();
    this.settle(scan);
    // Else nothing will run.
    if (scan.isComplete) this.extendJournal();
    const isSettled = (directory: string) =>
      (!isOpen && this.inForeground === 0) || this.settledGitDirectories.has(directory);
    this.settledGitDirectories = new Set(scan.gitDirectories.filter(isSettled));
    if (!isOpen && this.inForeground === 0) this.openDirectories.clear();
    this.inForeground += 1;
    this.options.activity?.beginCommand();
    this.timer ??= setInterval(() => this.passTime(), INSPECT_EVERY_MS).unref();
    return scan;
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
    // Then nothing can have happened since the comparison below.
    const isOver = Bun.peek.status(end) === "fulfilled";
    void end.then(() => {
      if (!isOver) this.tryToInspect();
      this.runningOn -= 1;
      this.quietSinceMs = now() + EXIT_GRACE_MS;
      if (monotonicMs() - beganAtMs > EXIT_GRACE_MS) this.endedAtMs = monotonicMs();
      this.rest();
    });
    if (this.inForeground === 0) this.options.activity?.endCommands();
    // The command has begun, so there was a scan that was complete.
    if (this.last) this.pending.push(...this.sweep(this.last));
    this.extendJournal();
    return this.pending.splice(0);
  }

  /** Between two commands only what runs in the background, or somebody outside, creates protected files. */
  inspect(mayReveal = true): void {
    if (this.last && (this.runningOn > 0 || this.isBehind))
      this.pending.push(...this.sweep(this.last, mayReveal));
  }

  private tryToInspect(mayReveal = true): void {
    try {
      this.inspect(mayReveal);
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
    if (this.runningOn > 0)
      this.pending.push(...this.sweep(this.last).map((note) => `${note} (${AMBIGUOUS})`));
    else this.inspect();
    if (this.runningOn === 0 && !this.isBehind) this.settle(this.scanner.scan());
    return this.pending.splice(0);
  }

  /** Call this when everything has ended: moves away files left by background processes. */
  async close(): Promise<void> {
    this.stopTimer();
    await this.sweepAgain().catch(() => {
      this.isBehind = true;
    });
    this.scanner[Symbol.dispose]();
    // What is not known now, the next session may find out.
    if (!this.isBehind) this.options.journal?.end();
  }

  private async sweepAgain(): Promise<void> {
    const hasRunOn = this.runningOn > 0 || monotonicMs() - this.endedAtMs < RECENT_MS;
    if (!(hasRunOn || this.isBehind) || this.last === undefined) return;
    let isClean = this.sweep(this.last).length === 0 && !hasRunOn;
    for (let sweeps = 0; hasRunOn && !isClean && sweeps < MAX_LAST_SWEEPS; sweeps += 1) {
      await sleep(EXIT_GRACE_MS);
      isClean = this.sweep(this.last).length === 0;
    }
  }

  /** Only with a complete scan can later ones be compared. */
  private settle(scan: ProtectedFileScan): void {
    if (!scan.isComplete) return;
    this.last = scan;
    this.options.journal?.keepScan(scan);
  }

  /**
   * What is done every second while something of commands runs. What runs on may be using directories that it cannot list
   * itself: they are left to it until the next command.
   */
  passTime(): void {
    this.extendJournal();
    this.tryToInspect(false);
  }

  /** A later session moves nothing away that a command may keep. */
  private extendJournal(): void {
    if (!this.access?.keepsNewFiles) this.options.journal?.extend();
  }

  private rest(): void {
    if (this.inForeground > 0 || this.runningOn > 0) return;
    this.stopTimer();
    this.options.journal?.rest();
  }

  private stopTimer(): void {
    this.options.activity?.stop();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private sweep(before: ProtectedFileScan, mayReveal = true): string[] {
    const { scanner, remedies } = this;
    const { activity, roots } = this.options;
    // Where nothing has run for a while, what came later is the user's own.
    const isLate = this.isBehind && this.runningOn === 0 && this.inForeground === 0;
    const changed = isLate ? new ChangedUntil(this.quietSinceMs) : undefined;
    const written = this.writtenFiles();
    let hasSampled = false;
    const findSuspects = (path: string) => {
      if (!hasSampled) activity?.sample();
      hasSampled = true;
      return findUnconsented(path, written).flatMap(
        (one) => changed?.findOld(one) ?? activity?.findSuspects(one) ?? [one],
      );
    };
    // Somebody else may have made it while a command worked, and nothing reads it before a person does something.
    const findDoubt = (path: string) => {
      const root = roots.find((one) => isInside(path, one)) ?? "/";
      const isKnown = before.files.has(path) || (activity?.isByShortCommand(path, root) ?? true);
      return isKnown ? undefined : explainUsedLater(path, root);
    };
    const { access } = this;
    const isOpen = (path: string) =>
      access !== undefined && (access.keepsNewFiles || findUnopened(path, access).length === 0);
    const findUnasked = (path: string) => {
      if (isOpen(path)) return [];
      const unasked = findSuspects(path).filter((one) => findDoubt(one) === undefined);
      return access ? unasked.flatMap((one) => findUnopened(one, access)) : unasked;
    };
    const { scan, restored, moved, changes, lost } = sweep({ scanner, remedies }, before, {
      heldGitDirectories: findHeldGitDirectories(this.settledGitDirectories, roots),
      mayReveal: () => mayReveal,
      findAdded: () =>
        [...this.openDirectories].flatMap(([path, files]) =>
          lookAt(path) === undefined ? [] : findUnconsented(path, [...files, ...written]),
        ),
      findUnasked,
      restoreLink: (link) => (isOpen(link.path) ? undefined : remedies.putBack(link)),
    });
    for (const { path } of changes.appeared) {
      const files = written.filter((file) => file !== path && isInside(file, path));
      if (files.length > 0) this.openDirectories.set(path, files);
    }
    const isLeft = ({ path }: ProtectedFile) =>
      !isOpen(path) &&
      !before.files.has(path) &&
      findUnconsented(path, written).length > 0 &&
      findUnasked(path).length === 0;
    const left = Map.groupBy(changes.appeared.filter(isLeft), ({ path }) =>
      findSuspects(path).length > 0 ? findDoubt(path) : undefined,
    );
    const replaced = changes.replaced.filter(({ path }) => !isOpen(path) && !written.includes(path));
    const notes = [
      ...[
        ...restored,
        ...remedies.reportFiles(
          lost.filter(({ path }) => !isOpen(path)),
          LOST,
        ),
        ...moved,
      ],
      ...[...left].flatMap(([doubt, files]) =>
        remedies.reportFiles(files, doubt ? `${UNCLEAR}: ${doubt}` : LEFT),
      ),
      ...remedies.reportFiles(replaced, `was ${REPLACED}`, `were ${REPLACED}`),
    ];
    const wasBehind = this.isBehind;
    this.isBehind = !scan.isComplete;
    this.settle(scan);
    return this.isBehind && !wasBehind ? [...notes, remedies.report(TOO_MANY)] : notes;
  }
}
