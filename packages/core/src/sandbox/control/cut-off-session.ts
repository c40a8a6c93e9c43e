import { lstatSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { readSystemEntries } from "../box/system-entries.ts";
import type { ControlFile } from "./control-file.ts";
import type { ControlLook } from "./control-look.ts";
import { ControlRemedies } from "./control-remedies.ts";
import { ControlWatch } from "./control-watch.ts";
import type { Journal } from "./journal-text.ts";
import { ListingRestorer } from "./listing-restorer.ts";
import { findControlChanges } from "./new-control-files.ts";

export interface CutOffSessionOptions extends Journal {
  /** The moment until which its commands may have been at work, in milliseconds since the epoch. */
  lastMs: number;
  /** Where what came about unasked is moved to. */
  quarantine: string;
  /** Tells the user, in a sentence. */
  tell?: ((message: string) => void) | undefined;
}

// Of what is new; a repository that somebody has made since holds thousands of files.
const MAX_ENTRIES = 5_000;

const ENDED = "The last session here ended without tidying up";

/** One that was killed while something may have run in its box. */
export class CutOffSession {
  private readonly remedies: ControlRemedies;
  private entriesLeft = MAX_ENTRIES;

  constructor(private readonly options: CutOffSessionOptions) {
    this.remedies = new ControlRemedies({ ...options, maker: `${ENDED}, and one of its commands` });
  }

  /** False where what there was cannot be compared with what there is: nothing is done then. */
  tidy(): boolean {
    const { look: before, roots, gitDirectories } = this.options;
    const restorer = new ListingRestorer(
      ({ identity, path }) => before.unlistable.has(identity) || !this.isOld(path),
    );
    const watch = new ControlWatch({ roots, gitDirectories, shallowRoots: before.shallowRoots });
    const after = watch.look(restorer.reveal);
    if (!isNumberedAlike(before, after)) return false;
    const { appeared, lostLinks } = findControlChanges(before, after);
    const unasked = appeared.flatMap(({ path }) => this.findOld(path));
    // Before anything is moved, which changes the directories too.
    const links = lostLinks.map((link) => ({ link, fate: this.findFate(link) }));
    for (const path of unasked) this.remedies.moveAway(path);
    const notes = links.flatMap(({ link, fate }) => this.mend(link, fate));
    const lines = [...restorer.describe((path) => this.remedies.nameOf(path)), ...notes];
    for (const line of lines) this.options.tell?.(`${ENDED}: ${line}`);
    return true;
  }

  /** What became of a link: commands may take it away, and so may its owner afterwards. */
  private findFate({ path }: ControlFile): "taken" | "gone" | "replaced since" {
    if (lstatSync(toSystemPath(path), { throwIfNoEntry: false }))
      return this.isOld(path) ? "taken" : "replaced since";
    return this.isOld(path.slice(0, path.lastIndexOf("/"))) ? "taken" : "gone";
  }

  private mend(link: ControlFile, fate: ReturnType<CutOffSession["findFate"]>): string[] {
    if (fate === "replaced since") return [];
    const note = fate === "taken" ? this.remedies.putBack(link) : undefined;
    return [note ?? `the link ${this.remedies.nameOf(link.path)}, which led to ${link.target}, is gone`];
  }

  /** What of a new file or directory came about while commands were at work: the outermost paths. */
  private findOld(path: string): string[] {
    if (this.isOld(path)) return [path];
    this.entriesLeft -= 1;
    return this.entriesLeft < 0 ? [] : namesBelow(path).flatMap((name) => this.findOld(`${path}/${name}`));
  }

  /** True for what was not changed since. */
  private isOld(path: string): boolean {
    try {
      return lstatSync(toSystemPath(path)).ctimeMs <= this.options.lastMs;
    } catch {
      return false; // Not there.
    }
  }
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

function namesBelow(path: string): string[] {
  try {
    if (!lstatSync(toSystemPath(path)).isDirectory()) return [];
    return readSystemEntries(path).map(({ name }) => name);
  } catch {
    return []; // Gone meanwhile.
  }
}
