import { monotonicMs, now, sleep } from "../../infrastructure/clock.ts";
import { ChangedUntil } from "./changed-until.ts";
import type { ControlJournal } from "./control-journal.ts";
import type { ControlLook } from "./control-look.ts";
import { ControlRemedies, type ControlRemediesOptions } from "./control-remedies.ts";
import { ControlSweep } from "./control-sweep.ts";
import { ControlWatch } from "./control-watch.ts";
import { findHeldGitDirectories } from "./held-git-directories.ts";

export interface ControlKeeperOptions extends Omit<ControlRemediesOptions, "maker"> {
  /** Git directories elsewhere that commands may write to. */
  gitDirectories: readonly string[];
  /** Tells a later session what was there, should this one be killed; undefined where nothing can be kept. */
  journal?: ControlJournal | undefined;
  /** As that of `ControlWatchOptions`. */
  maxDirectories?: number;
}

const INSPECT_EVERY_MS = 2_000;

// What bubblewrap started ends a moment after bubblewrap itself when that is killed.
const LAST_BREATH_MS = 50;
const MAX_LAST_LOOKS = 20;
const RECENT_MS = 2_000;

const AMBIGUOUS =
  "something ran in the background of the sandbox meanwhile, so it cannot be told who made it: end that first";

/** Sees to it that boxed commands bring about no control files: what appears is moved away and said. */
export class ControlKeeper {
  private readonly roots: readonly string[];
  private readonly watch: ControlWatch;
  private readonly remedies: ControlRemedies;
  private readonly sweep: ControlSweep;
  private readonly journal: ControlJournal | undefined;
  /** What there was and may be there: never what came about unasked, even if it is still there or there again. */
  private last: ControlLook | undefined;
  /** Commands that have not returned. */
  private inForeground = 0;
  /** Commands that have returned and of which something may still run. */
  private runningOn = 0;
  /** When what ran in the background last ended, on the clock that only goes forward. */
  private endedAtMs = Number.NEGATIVE_INFINITY;
  /** The same for all that ran, on the clock of files. */
  private quietSinceMs = 0;
  /** True while it is not known what commands made, as in too many directories: `last` is still to be compared with. */
  private isBehind = false;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** What was done between commands and the model does not know yet. */
  private pending: string[] = [];
  /** Git directories that were there when nothing ran, so that every command since has had them held in place. */
  settledGitDirectories: ReadonlySet<string> = new Set();
  private writtenFiles: () => readonly string[] = () => [];

  constructor({ journal, ...options }: ControlKeeperOptions) {
    this.roots = options.roots;
    this.watch = new ControlWatch(options);
    this.remedies = new ControlRemedies({ ...options, maker: "A command" });
    this.sweep = new ControlSweep(this.watch, this.remedies);
    this.journal = journal;
  }

  /** What there is, without anything following from it. */
  glance(): ControlLook {
    return this.watch.look();
  }

  /** What there is before a command. @param writtenFiles what was written with consent, which may stay. */
  begin(writtenFiles: () => readonly string[]): ControlLook {
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
    this.timer ??= setInterval(() => this.passTime(), INSPECT_EVERY_MS).unref();
    return look;
  }

  /** In the place of `finish`, for a command that was not started. */
  abandon(): void {
    this.inForeground -= 1;
    this.rest();
  }

  /** What was done after a command, a line each. `end` resolves when nothing of it runs any more. */
  finish(end: Promise<unknown>): string[] {
    this.inForeground -= 1;
    this.runningOn += 1;
    const beganAtMs = monotonicMs();
    void end.then(() => {
      this.tryToInspect();
      this.runningOn -= 1;
      this.quietSinceMs = now() + LAST_BREATH_MS;
      if (monotonicMs() - beganAtMs > LAST_BREATH_MS) this.endedAtMs = monotonicMs();
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
      this.isBehind = true; // What cannot be looked at now is looked at next time.
    }
  }

  /**
   * What came about since the last look may stay, unless something boxed runs that may have made it.
   * @returns a line for each thing that was taken away.
   */
  accept(): string[] {
    if (this.last === undefined) return [];
    if (this.runningOn === 0) {
      this.inspect();
      if (!this.isBehind) this.settle(this.watch.look());
    } else this.pending.push(...this.takeAway(this.last).map((note) => `${note} (${AMBIGUOUS})`));
    return this.takePending();
  }

  /** To be called when everything has been ended: takes away what is there of what ran in the background. */
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
      await sleep(LAST_BREATH_MS);
      isClean = this.takeAway(this.last).length === 0;
    }
  }

  private lookBefore(): ControlLook {
    if (this.last && this.isBehind) return { ...this.last, isComplete: false };
    // While something runs on, what a look finds now may be its work.
    return this.last && this.runningOn > 0 ? this.last : this.watch.look();
  }

  /** Only with one that is complete can be compared later. */
  private settle(look: ControlLook): void {
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
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private takeAway(before: ControlLook, { mayReveal = true } = {}): string[] {
    // Where nothing has run for a while, what came later is the user's own.
    const isLate = this.isBehind && this.runningOn === 0 && this.inForeground === 0;
    const changed = isLate ? new ChangedUntil(this.quietSinceMs) : undefined;
    const { look, notes } = this.sweep.run(before, {
      written: this.writtenFiles(),
      mayReveal,
      heldGitDirectories: findHeldGitDirectories(this.settledGitDirectories, this.roots),
      findSuspects: changed && ((path) => changed.findOld(path)),
    });
    const hasBeenSaid = this.isBehind;
    this.isBehind = !look.isComplete;
    this.settle(look);
    return this.isBehind && !hasBeenSaid ? [...notes, this.remedies.tellOverfull()] : notes;
  }
}
