import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ChangedUntil } from "../../src/infrastructure/fs/changed-until.ts";
import { formatJournal } from "../../src/sandbox/protected-files/journal.ts";
import { parseJournal, recoverSession } from "../../src/sandbox/protected-files/recovery.ts";
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
  if (journal === undefined) throw new Error("the journal cannot be read");
  commands();
  const lastMs = Date.now() + 1;
  // What is made from now on is later, on the coarsest clock that a file system here has.
  const [probe, until] = [join(place.root, "..", "probe"), new ChangedUntil(lastMs)];
  do writeFileSync(probe, "");
  while (until.isOld(probe));
  const told: string[] = [];
  const tell = (message: string) => told.push(message);
  const tidy = () =>
    recoverSession({ ...journal, maxDirectories, lastMs, quarantine: place.quarantine, notify: tell });
  return { told, tidy };
}
