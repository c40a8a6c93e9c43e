import { readLabels } from "./log.ts";
import type { SessionFile } from "./read-file.ts";

/**
 * The id of the entry that is meant by its id, or by a label that only one entry has.
 * @throws Error that says where ids and labels are listed.
 */
export function findEntryId(
  { header, entries }: Pick<SessionFile, "header" | "entries">,
  entry: string,
): string {
  if (entries.some(({ id }) => id === entry)) return entry;
  const labelled = [...readLabels(entries)].flatMap(([id, label]) => (label === entry ? [id] : []));
  const [found, ...more] = labelled;
  const listing = `diligent sessions show ${header.id} --entries`;
  if (found === undefined)
    throw new Error(
      `session ${header.id} has no entry ${entry}; ENTRY is an id of 8 hexadecimal digits or a label: see ${listing}`,
    );
  if (more.length > 0)
    throw new Error(`${labelled.length} entries have the label ${entry}; name one by its id: see ${listing}`);
  return found;
}
