import { now as currentTime } from "../infrastructure/runtime.ts";
import { removeInvisible, revealInvisible } from "../infrastructure/text/unicode.ts";
import { rankKnowledge } from "./ranker.ts";
import type { FindChangedFile } from "./stale-files.ts";
import type { KnowledgeEntry } from "./types.ts";

const HEADER = "## Project Knowledge\nThe following knowledge was accumulated from previous sessions:\n\n";

const CHARACTERS_PER_TOKEN = 4;

// After this many entries that did not fit, finding smaller ones would require reading the whole file.
const MAX_SKIPPED = 100;

/** Characters that separate words or lines; the last one is Unicode's "next line". */
const LINE_BREAKS = /[\s\u0085]+/g;

/** Additional inputs of the section about earlier sessions. */
export interface KnowledgeSectionOptions {
  /** Milliseconds since the epoch. */
  now?: number | undefined;
  /** Finds changed files, to mark entries about them; without it nothing is marked. */
  findChangedFile?: FindChangedFile | undefined;
}

/**
 * The section of the system prompt with knowledge from earlier sessions: one line per entry, the highest ranked
 * first, as many as fit into the budget with the heading; an entry that does not fit is skipped in favor of smaller
 * ones. Empty if there is none.
 * @param budgetTokens at four characters each.
 */
export function buildKnowledgeSection(
  entries: readonly KnowledgeEntry[],
  budgetTokens: number,
  options?: KnowledgeSectionOptions,
): string {
  return selectKnowledge(entries, budgetTokens, options).section;
}

/** `buildKnowledgeSection` with the ids of the entries in it. */
export function selectKnowledge(
  entries: readonly KnowledgeEntry[],
  budgetTokens: number,
  { now = currentTime(), findChangedFile }: KnowledgeSectionOptions = {},
): { section: string; ids: string[] } {
  let room = budgetTokens * CHARACTERS_PER_TOKEN - HEADER.length;
  let skipped = 0;
  const lines: string[] = [];
  const ids: string[] = [];
  for (const entry of rankKnowledge(entries, now)) {
    const line = formatWithin(entry, room, findChangedFile);
    if (line === undefined) skipped++;
    else {
      lines.push(line);
      ids.push(entry.id);
    }
    room -= line?.length ?? 0;
    if (skipped > MAX_SKIPPED) break;
  }
  return { section: lines.length === 0 ? "" : HEADER + lines.join(""), ids };
}

/**
 * The entry's line, or undefined when it is longer than `room` characters. Files are checked only for an entry that
 * fits.
 */
function formatWithin(
  entry: KnowledgeEntry,
  room: number,
  findChangedFile: FindChangedFile | undefined,
): string | undefined {
  // Too long even if half of it were invisible: not worth scanning.
  if (entry.content.length > 2 * room) return undefined;
  const content = toVisibleLine(entry.content);
  const text = `- [${entry.type}] ${content}`;
  if (content === "" || text.length + 1 > room) return undefined;
  const changed = findChangedFile?.(entry);
  const mark =
    changed === undefined ? "" : ` (possibly stale: ${revealInvisible(changed)} has changed since)`;
  const line = `${text}${mark}\n`;
  return line.length > room ? undefined : line;
}

/** The content on one line, without characters that are invisible to the user but not to a model. */
function toVisibleLine(content: string): string {
  const onOneLine = content.replace(LINE_BREAKS, " ");
  return removeInvisible(onOneLine).text.replace(/ {2,}/g, " ").trim();
}
