import { monotonicMs, sleep } from "../../infrastructure/clock.ts";
import { findUnconsented } from "./consented-files.ts";
import type { ControlFile } from "./control-file.ts";
import type { ControlJournal } from "./control-journal.ts";
import { type ControlLook, type UnlistableDirectory, withExpected, withoutFiles } from "./control-look.ts";
import { ControlRemedies, type ControlRemediesOptions } from "./control-remedies.ts";
import { ControlWatch } from "./control-watch.ts";
import { ListingRestorer } from "./listing-restorer.ts";
import { findControlChanges } from "./new-control-files.ts";

export interface ControlKeeperOptions extends Omit<ControlRemediesOptions, "maker"> {
  /** Git directories elsewhere that commands may write to. */
  gitDirectories: readonly string[];
  /** Tells a later session what was there, should this one be killed; undefined where nothing can be kept. */
  journal?: ControlJournal | undefined;
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
  private readonly watch: ControlWatch;
  private readonly remedies: ControlRemedies;
  private readonly journal: ControlJournal | undefined;
  /** What there was and may be there: never what came about unasked, even if it is still there or there again. */
  private last: ControlLook | undefined;
  /** Commands that have not returned. */
  private inForeground = 0;
  /** Commands that have returned and of which something may still run. */
  private runningOn = 0;
  /** When what ran in the background last ended, on the clock that only goes forward. */
  private endedAtMs = Number.NEGATIVE_INFINITY;
  private timer: ReturnType<typeof setInterval> | undefined;
  /** What was done between commands and the model does not know yet. */
  private pending: string[] = [];
  /** Git directories that were there when nothing ran, so that every command since has had them held in place. */
  settledGitDirectories: ReadonlySet<string> = new Set();
  private writtenFiles: () => readonly string[] = () => [];

  constructor({ journal, ...options }: ControlKeeperOptions) {
    this.watch = new ControlWatch(options);
    this.remedies = new ControlRemedies({ ...options, maker: "A command" });
    this.journal = journal;
  }

  /** What there is, without anything following from it. */
  glance(): ControlLook {
    return this.watch.look();
  }

  /** What there is before a command. @param writtenFiles what was written with consent, which may stay. */
  begin(writtenFiles: () => readonly string[]): ControlLook {
    this.writtenFiles = writtenFiles;
    this.journal?.extend();
    this.inspect();
    // While something runs on, what a look finds now may be its work.
    const look = this.last && this.runningOn > 0 ? this.last : this.watch.look();
    this.settle(look);
    const { gitDirectories } = look;
    this.settledGitDirectories = new Set(
      this.runningOn === 0
        ? gitDirectories
        : gitDirectories.filter((directory) => this.settledGitDirectories.has(directory)),
    );
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
  finish(before: ControlLook, end: Promise<unknown>): string[] {
    this.inForeground -= 1;
    this.runningOn += 1;
    const beganAtMs = monotonicMs();
    void end.then(() => {
      this.inspect();
      this.runningOn -= 1;
      if (monotonicMs() - beganAtMs > LAST_BREATH_MS) this.endedAtMs = monotonicMs();
      this.rest();
    });
    this.pending.push(...this.takeAway(this.last ?? before));
    this.journal?.extend();
    return this.takePending();
  }

  /** Between two commands only what runs in the background, or somebody outside, makes control files. */
  inspect(): void {
    if (this.last && this.runningOn > 0) this.pending.push(...this.takeAway(this.last));
  }

  /**
   * What came about since the last look may stay, unless something boxed runs that may have made it.
   * @returns a line for each thing that was taken away.
   */
  accept(): string[] {
    if (this.last === undefined) return [];
    if (this.runningOn === 0) this.settle(this.watch.look());
    else this.pending.push(...this.takeAway(this.last).map((note) => `${note} (${AMBIGUOUS})`));
    return this.takePending();
  }

  /** To be called when everything has been ended: takes away what is there of what ran in the background. */
  async close(): Promise<void> {
    this.stopTimer();
    await this.lookAgain();
    this.journal?.end();
  }

  private async lookAgain(): Promise<void> {
    const hasRunOn = this.runningOn > 0 || monotonicMs() - this.endedAtMs < RECENT_MS;
    if (!hasRunOn || this.last === undefined) return;
    this.takeAway(this.last);
    let isClean = false;
    for (let looks = 0; !isClean && looks < MAX_LAST_LOOKS; looks += 1) {
      await sleep(LAST_BREATH_MS);
      isClean = this.takeAway(this.last).length === 0;
    }
  }

  private settle(look: ControlLook): void {
    this.last = look;
    this.journal?.keep(look);
  }

  /**
   * What is done every two seconds while something of commands runs. What runs on may be using directories that it cannot
   * list itself: they are left to it until the next command.
   */
  passTime(): void {
    this.journal?.extend();
    if (this.last && this.runningOn > 0) this.pending.push(...this.takeAway(this.last, { mayReveal: false }));
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
    const wasThere = ({ identity }: UnlistableDirectory) => before.unlistable.has(identity);
    const restorer = new ListingRestorer((directory) => !mayReveal || wasThere(directory));
    const look = this.watch.look(restorer.reveal);
    // What lost its listing again in this moment is opened with a later look.
    const after = withExpected(look, before, (found) => wasThere(found) || restorer.isStuck(found));
    const { appeared, lostLinks, replaced } = findControlChanges(before, after);
    const written = this.writtenFiles();
    const isConsented = ({ path }: ControlFile) => written.includes(path);
    const unasked = appeared.flatMap(({ path }) => findUnconsented(path, written));
    const notes = unasked.flatMap((path) => this.remedies.moveAway(path));
    const restored = lostLinks.flatMap((link) => {
      const note = this.remedies.putBack(link);
      return note === undefined ? [] : [{ link, note }];
    });
    const paths = new Set(restored.map(({ link }) => link.path));
    // With a link what it leads to is there again.
    const back = [...before.files].filter(([path, { through }]) => paths.has(through ?? path));
    const left = withoutFiles(after, unasked);
    this.settle({ ...left, files: new Map([...back, ...left.files]) });
    return [
      ...restorer.describe((path) => this.remedies.nameOf(path)),
      ...notes,
      ...restored.map(({ note }) => note),
      ...replaced.filter((file) => !isConsented(file)).map((file) => this.describeReplaced(file)),
    ];
  }

  private describeReplaced({ path }: ControlFile): string {
    return `${this.remedies.nameOf(path)} was replaced from outside while the command ran`;
  }
}
