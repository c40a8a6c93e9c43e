import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ChangedUntil } from "../../src/sandbox/protected-files/changes.ts";
import { formatJournal, parseJournal } from "../../src/sandbox/protected-files/journal.ts";
import { CutOffSession } from "../../src/sandbox/protected-files/recovery.ts";
import type { makeKeptProject } from "./kept-project.ts";

/** A session that was killed between what its commands and what the user does. */
export function makeCutOff(
  place: ReturnType<typeof makeKeptProject>,
  commands: () => void,
  maxDirectories?: number,
) {
  const places = { roots: [place.root], gitDirectories: [] };
  const journal = parseJournal(formatJournal(place.begin(), places), place.root);
  place.keeper.abandon();
  if (typeof journal !== "object") throw new Error(`the journal is ${journal}`);
  commands();
  const lastMs = Date.now() + 1;
  // What is made from now on is later, on the coarsest clock that a file system here has.
  const [probe, until] = [join(place.root, "..", "probe"), new ChangedUntil(lastMs)];
  do writeFileSync(probe, "");
  while (until.isOld(probe));
  const told: string[] = [];
  const tell = (message: string) => told.push(message);
  const limits = maxDirectories === undefined ? {} : { maxDirectories };
  const tidy = () =>
    new CutOffSession({
      ...journal,
      ...limits,
      lastMs,
      quarantine: place.quarantine,
      notify: tell,
    }).recover();
  return { told, tidy };
}
