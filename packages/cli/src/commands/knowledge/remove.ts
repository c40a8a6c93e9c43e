import type { KnowledgeEntry } from "@diligent/core/run";
import { EXIT_SUCCESS } from "../../exit-codes.ts";
import { toJsonText } from "../../output/json-line.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { findEntry, type KnowledgeCall, type KnowledgeShelf, listReplaced } from "./shelf.ts";

/**
 * Takes entries away, all of them or, when one is not found, none. What an entry has replaced goes with it: otherwise
 * it would be told again.
 */
export async function removeKnowledge(
  { ids, isJson, io }: KnowledgeCall,
  shelf: KnowledgeShelf,
): Promise<number> {
  const named = new Set(ids.map((id) => findEntry(shelf.entries, id)));
  const removed = new Set([...named].flatMap((entry) => listReplaced(entry, shelf.entries)));
  await takeAway([...removed], shelf);
  if (isJson) io.stdout.write(toJsonText({ removed: [...removed].map(({ id }) => id) }));
  else for (const entry of removed) io.stdout.write(`${describeRemoval(entry, named.has(entry))}\n`);
  return EXIT_SUCCESS;
}

/** Appends the lines that take these entries away. */
export async function takeAway(
  entries: readonly KnowledgeEntry[],
  { library, path }: KnowledgeShelf,
): Promise<void> {
  await library.removeKnowledge(
    path,
    entries.map(({ id }) => id),
  );
}

function describeRemoval({ id, content }: KnowledgeEntry, isNamed: boolean): string {
  const why = isNamed ? "" : ", which it had replaced";
  return `Removed ${toSingleLine(id, 40)}${why}: ${toSingleLine(content, 60)}`;
}
