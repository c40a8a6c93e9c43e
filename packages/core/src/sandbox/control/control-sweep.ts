import { findUnconsented } from "./consented-files.ts";
import { type ControlFile, lookAt } from "./control-file.ts";
import {
  asBefore,
  type ControlLook,
  type UnlistableDirectory,
  withExpected,
  withoutFiles,
} from "./control-look.ts";
import type { ControlRemedies } from "./control-remedies.ts";
import type { ControlWatch } from "./control-watch.ts";
import { ListingRestorer } from "./listing-restorer.ts";
import { lookEverywhere } from "./look-everywhere.ts";
import { type ControlChanges, findControlChanges } from "./new-control-files.ts";
import { withoutRepositories } from "./repository-signs.ts";

export interface SweepOptions {
  /** What was written with consent, which may stay; absolute. */
  written: readonly string[];
  /** False where directories that cannot be listed stay so. */
  mayReveal: boolean;
  /** Git directories that no command has been able to exchange. */
  heldGitDirectories: readonly string[];
  /** Of what came about at a path, what a command may have made: the outermost paths. */
  findSuspects?: ((path: string) => string[]) | undefined;
}

/** What was found and done in one sweep. */
export interface SweepResult {
  /** A line for each thing that was done, for the model. */
  notes: string[];
  /** What there is now, without what came about unasked. */
  look: ControlLook;
}

/** Compares what there is of control files with what there was, and mends it. */
export class ControlSweep {
  constructor(
    private readonly watch: ControlWatch,
    private readonly remedies: ControlRemedies,
  ) {}

  run(before: ControlLook, options: SweepOptions): SweepResult {
    const { look, notes, linksBack } = this.runOnce(before, options);
    if (linksBack === 0 || !look.isComplete) return { look, notes };
    // What was made behind a link that was away counts again.
    const behind = this.runOnce(look, options);
    return { look: behind.look, notes: [...notes, ...behind.notes] };
  }

  private runOnce(before: ControlLook, options: SweepOptions): SweepResult & { linksBack: number } {
    const wasThere = ({ identity }: UnlistableDirectory) => before.unlistable.has(identity);
    const restorer = new ListingRestorer((directory) => !options.mayReveal || wasThere(directory));
    const { look, lost } = lookEverywhere(this.watch, before, restorer.reveal);
    // What lost its listing again in this moment is opened with a later look.
    const after = withExpected(look, before, (found) => wasThere(found) || restorer.isStuck(found));
    const changes = findControlChanges(before, after, options.heldGitDirectories);
    const { notes, unasked, planted } = this.takeAway(changes, options);
    const links = this.putBack(changes, before);
    const stuck = unasked.filter((path) => lookAt(path) !== undefined);
    const left = asBefore(withoutFiles(withoutRepositories(after, planted, before), unasked), before, stuck);
    const isConsented = ({ path }: ControlFile) => options.written.includes(path);
    return {
      linksBack: links.notes.length,
      // What only a command's settings name is not to count with the next ones.
      look: { ...left, files: new Map([...links.back, ...left.files]), named: before.named },
      notes: [
        ...restorer.describe((path) => this.remedies.nameOf(path)),
        ...this.remedies.tellLost(lost),
        ...notes,
        ...links.notes,
        ...this.remedies.tellReplaced(changes.replaced.filter((file) => !isConsented(file))),
      ],
    };
  }

  private takeAway({ planted, appeared }: ControlChanges, { written, findSuspects }: SweepOptions) {
    const suspectsAt = findSuspects ?? ((path: string) => [path]);
    const findUnasked = (path: string) =>
      findUnconsented(path, written).flatMap((unconsented) => suspectsAt(unconsented));
    const disarmed = planted.filter(({ parts }) => parts.some((path) => findUnasked(path).length > 0));
    const parts = disarmed.flatMap((repository) => repository.parts.flatMap(findUnasked));
    const unasked = appeared.flatMap(({ path }) => findUnasked(path));
    const notes = this.remedies.moveAway([...new Set([...parts, ...unasked])]);
    return { notes, unasked, planted: disarmed };
  }

  private putBack({ lostLinks }: ControlChanges, before: ControlLook) {
    const restored = lostLinks.flatMap((link) => {
      const note = this.remedies.putBack(link);
      return note === undefined ? [] : [{ path: link.path, note }];
    });
    const paths = new Set(restored.map(({ path }) => path));
    // With a link what it leads to is there again.
    const isBack = ({ path, reasons = [] }: ControlFile) =>
      paths.has(path) || reasons.flat().some((one) => paths.has(one));
    const back = [...before.files].filter(([, file]) => isBack(file));
    return { back, notes: restored.map(({ note }) => note) };
  }
}
