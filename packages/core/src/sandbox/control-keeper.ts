import { relative } from "node:path";
import { monotonicMs, sleep } from "../infrastructure/clock.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import { findUnconsented, withoutFiles } from "./consented-files.ts";
import type { ControlFile } from "./control-file.ts";
import { type ControlLook, ControlWatch } from "./control-watch.ts";
import { findControlChanges } from "./new-control-files.ts";
import { moveAway, restoreLink } from "./quarantine.ts";

export interface ControlKeeperOptions {
  /** Where commands may write, the project first. */
  roots: readonly string[];
  /** Git directories elsewhere that commands may write to. */
  gitDirectories: readonly string[];
  /** Where what appears is moved to. */
  quarantine: string;
  /** Tells the user, in a sentence. */
  tell?: ((message: string) => void) | undefined;
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
  /** What there was and may be there: never what came about unasked, even if it is still there or there again. */
  private last: ControlLook | undefined;
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

  constructor(private readonly options: ControlKeeperOptions) {
    this.watch = new ControlWatch(options.roots, options.gitDirectories);
  }

  /** What there is before a command. @param writtenFiles what was written with consent, which may stay. */
  begin(writtenFiles: () => readonly string[]): ControlLook {
    this.writtenFiles = writtenFiles;
    this.inspect();
    // While something runs on, what a look finds now may be its work.
    const look = this.last && this.runningOn > 0 ? this.last : this.watch.look();
    this.last = look;
    const { gitDirectories } = look;
    this.settledGitDirectories = new Set(
      this.runningOn === 0
        ? gitDirectories
        : gitDirectories.filter((directory) => this.settledGitDirectories.has(directory)),
    );
    return look;
  }

  /** What was done after a command, a line each. `end` resolves when nothing of it runs any more. */
  finish(before: ControlLook, end: Promise<unknown>): string[] {
    this.runningOn += 1;
    const beganAtMs = monotonicMs();
    this.timer ??= setInterval(() => this.inspect(), INSPECT_EVERY_MS).unref();
    void end.then(() => {
      this.inspect();
      this.runningOn -= 1;
      if (monotonicMs() - beganAtMs > LAST_BREATH_MS) this.endedAtMs = monotonicMs();
      if (this.runningOn === 0) this.stopTimer();
    });
    this.pending.push(...this.takeAway(this.last ?? before));
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
    if (this.runningOn === 0) this.last = this.watch.look();
    else this.pending.push(...this.takeAway(this.last).map((note) => `${note} (${AMBIGUOUS})`));
    return this.takePending();
  }

  /** To be called when everything has been ended: takes away what is there of what ran in the background. */
  async close(): Promise<void> {
    this.stopTimer();
    const hasRunOn = this.runningOn > 0 || monotonicMs() - this.endedAtMs < RECENT_MS;
    if (!hasRunOn || this.last === undefined) return;
    this.takeAway(this.last);
    let isClean = false;
    for (let looks = 0; !isClean && looks < MAX_LAST_LOOKS; looks += 1) {
      await sleep(LAST_BREATH_MS);
      isClean = this.takeAway(this.last).length === 0;
    }
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

  private takeAway(before: ControlLook): string[] {
    const after = this.watch.look();
    const { appeared, lostLinks, replaced } = findControlChanges(before, after);
    const written = this.writtenFiles();
    const isConsented = ({ path }: ControlFile) => written.includes(path);
    const unasked = appeared.flatMap(({ path }) => findUnconsented(path, written));
    this.last = withoutFiles(after, unasked);
    return [
      ...unasked.flatMap((path) => this.moveAway(path)),
      ...lostLinks.filter((link) => this.restore(link)).map(({ path }) => this.put(path)),
      ...replaced.filter((file) => !isConsented(file)).map(({ path }) => this.noteReplaced(path)),
    ];
  }

  private moveAway(path: string): string[] {
    const { quarantine, tell } = this.options;
    const name = this.nameOf(path);
    try {
      const target = moveAway(path, { name, quarantine });
      if (target === undefined) return [];
      tell?.(`A command made ${name}, which decides what other programs do. It was moved to ${target}`);
      return [
        `${name} was moved to ${target}: commands in the sandbox may not make what decides what other programs do. If it belongs in the project, make it with the write tool or outside the sandbox; both ask the user`,
      ];
    } catch (error) {
      const problem = `A command made ${name}, which decides what other programs do, and it is still there: ${error instanceof Error ? error.message : error}`;
      tell?.(problem);
      return [problem];
    }
  }

  private restore(link: ControlFile): boolean {
    const isThere = tryToRestore(link.path, link.target);
    if (isThere && this.last)
      this.last = { ...this.last, files: new Map([...this.last.files, [link.path, link]]) };
    return isThere;
  }

  private put(path: string): string {
    return `the link ${this.nameOf(path)} was put back: commands in the sandbox may not change it`;
  }

  private noteReplaced(path: string): string {
    return `${this.nameOf(path)} was replaced from outside while the command ran`;
  }

  private nameOf(path: string): string {
    const root = this.options.roots.find((directory) => isInside(path, directory));
    return root === undefined || root !== this.options.roots[0] ? path : relative(root, path);
  }
}

function tryToRestore(path: string, target: string | undefined): boolean {
  try {
    if (target !== undefined) restoreLink(path, target);
    return target !== undefined;
  } catch {
    return false; // Its directory is gone, or something is there that could not be moved away, which was said.
  }
}
