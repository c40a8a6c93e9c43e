import { isInside } from "../../infrastructure/reading/real-path.ts";
import { ChangedUntil } from "./changed-until.ts";
import { type ControlFile, lookAt } from "./control-file.ts";
import type { ControlLook } from "./control-look.ts";
import { ControlRemedies } from "./control-remedies.ts";
import { ControlWatch } from "./control-watch.ts";
import { findHeldGitDirectories } from "./held-git-directories.ts";
import type { Journal } from "./journal-text.ts";
import { ListingRestorer } from "./listing-restorer.ts";
import { lookEverywhere } from "./look-everywhere.ts";
import { findControlChanges } from "./new-control-files.ts";

export interface CutOffSessionOptions extends Journal {
  /** The moment until which its commands may have been at work, in milliseconds since the epoch. */
  lastMs: number;
  /** Where what came about unasked is moved to. */
  quarantine: string;
  /** Tells the user, in a sentence. */
  tell?: ((message: string) => void) | undefined;
  /** As that of `ControlWatchOptions`. */
  maxDirectories?: number;
}

const MAX_NAMED = 5;

// Each shows what the settings hid that the one before met.
const MAX_LOOKS = 4;

const ENDED = "The last session here ended without tidying up";

/** One that was killed while something may have run in its box. */
export class CutOffSession {
  private readonly remedies: ControlRemedies;
  private readonly changed: ChangedUntil;

  constructor(private readonly options: CutOffSessionOptions) {
    this.remedies = new ControlRemedies({ ...options, maker: `${ENDED}, and one of its commands` });
    this.changed = new ChangedUntil(options.lastMs);
  }

  /** False where what there was cannot be compared with what there is: nothing is moved then. */
  tidy(): boolean {
    const { look: before, roots, gitDirectories } = this.options;
    const restorer = new ListingRestorer(
      ({ identity, path }) => before.unlistable.has(identity) || !this.changed.isOld(path),
    );
    const { maxDirectories } = this.options;
    const limits = maxDirectories === undefined ? {} : { maxDirectories };
    const watch = new ControlWatch({ roots, gitDirectories, shallowRoots: before.shallowRoots, ...limits });
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
    const notes = links.flatMap(({ link, fate }) => this.mend(link, fate));
    // What its commands made behind a link that was away counts again.
    if (notes.length > 0) this.moveAway(this.findUnasked(look()).unasked);
    const lines = [
      ...restorer.describe((path) => this.remedies.nameOf(path)),
      ...notes,
      ...this.describeMoved(moved),
    ];
    for (const line of lines) this.options.tell?.(`${ENDED}: ${line}`);
    return true;
  }

  private moveAway(paths: readonly string[]): void {
    for (const path of paths) this.changed.keep(directoryOf(path));
    this.remedies.moveAway(paths);
  }

  private findUnasked(after: ControlLook) {
    const { look: before, roots } = this.options;
    const held = findHeldGitDirectories(before.gitDirectories, roots);
    const { planted, appeared, lostLinks } = findControlChanges(before, after, held);
    const moved = appeared.filter((file) => this.mayBeMovedSince(file));
    const made = appeared.filter((file) => !moved.includes(file)).map(({ path }) => path);
    const parts = planted.flatMap((repository) => repository.parts);
    return { unasked: [...parts, ...made].flatMap((path) => this.changed.findOld(path)), moved, lostLinks };
  }

  /**
   * True for what is as it was, with the same directory around it, where a person may have moved that: what is renamed
   * changes itself, not what lies in it.
   */
  private mayBeMovedSince({ path, identity, parentIdentity }: ControlFile): boolean {
    const { look, roots } = this.options;
    const isIt = (file: ControlFile) => file.identity === identity && file.parentIdentity === parentIdentity;
    if (![...look.files.values()].some(isIt)) return false;
    const root = roots.find((one) => isInside(path, one)) ?? "";
    for (let around = directoryOf(path); around.length > root.length; around = directoryOf(around))
      if (!this.changed.isOld(around)) return true;
    return false;
  }

  private describeMoved(moved: readonly ControlFile[]): string[] {
    if (moved.length === 0) return [];
    const names = moved.slice(0, MAX_NAMED).map(({ path }) => this.remedies.nameOf(path));
    const more = moved.length > MAX_NAMED ? ` and ${moved.length - MAX_NAMED} more` : "";
    return [
      `${names.join(", ")}${more} came to lie nearer to the top with the directory around, and it cannot be told who moved that: you, or one of its commands`,
    ];
  }

  /** What became of a link: commands may take it away, and so may its owner afterwards. */
  private findFate({ path }: ControlFile): "taken" | "gone" | "replaced since" {
    if (lookAt(path)) return this.changed.isOld(path) ? "taken" : "replaced since";
    return this.changed.isOld(directoryOf(path)) ? "taken" : "gone";
  }

  private mend(link: ControlFile, fate: ReturnType<CutOffSession["findFate"]>): string[] {
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
function isNumberedAlike(before: ControlLook, after: ControlLook): boolean {
  const held = [...before.files.values()].filter(({ kind }) => kind !== "link");
  const isExchanged = held.some(({ path, identity, parentIdentity }) => {
    const file = after.files.get(path);
    return file && file.identity !== identity && file.parentIdentity !== parentIdentity;
  });
  const identities = new Set([...after.files.values()].map(({ identity }) => identity));
  return !isExchanged || held.some(({ identity }) => identities.has(identity));
}
