import { now as currentTime } from "../infrastructure/clock.ts";
import { removeInvisible, revealInvisible } from "../infrastructure/content/invisible-text.ts";
import { rankKnowledge } from "./ranker.ts";
import type { FindChangedFile } from "./stale-files.ts";
import type { KnowledgeEntry } from "./types.ts";

const HEADER = "## Project Knowledge\nThe following knowledge was accumulated from previous sessions:\n\n";

const CHARACTERS_PER_TOKEN = 4;

// Behind so many that did not fit, smaller ones would only be found by looking at the whole file.
const MAX_PASSED_OVER = 100;

/** All that separates words or lines; the last one is Unicode's "next line". */
const LINE_BREAKS = /[\s\u0085]+/g;

/** What else the section about earlier sessions depends on. */
export interface KnowledgeSectionOptions {
  /** Milliseconds since the epoch. */
  now?: number | undefined;
  /** Marks what is told about a file that has changed since; without it nothing is marked. */
  findChangedFile?: FindChangedFile | undefined;
}

/**
 * The section of the system prompt that tells what was learned before: one line an entry, the highest ranked first,
 * as many as fit into the budget with the heading; what does not fit is passed over for smaller ones. Empty when
 * there is nothing to tell.
 * @param budgetTokens at four characters each.
 */
export function buildKnowledgeSection(
  entries: readonly KnowledgeEntry[],
  budgetTokens: number,
  { now = currentTime(), findChangedFile }: KnowledgeSectionOptions = {},
): string {
  let room = budgetTokens * CHARACTERS_PER_TOKEN - HEADER.length;
  let passedOver = 0;
  const lines: string[] = [];
  for (const entry of rankKnowledge(entries, now)) {
    const line = formatWithin(entry, room, findChangedFile);
    if (line === undefined) passedOver++;
    else lines.push(line);
    room -= line?.length ?? 0;
    if (passedOver > MAX_PASSED_OVER) break;
  }
  return lines.length === 0 ? "" : HEADER + lines.join("");
}

/** The entry's line, or undefined when it is longer than `room` characters. Files are looked at only for one that fits. */
function formatWithin(
  entry: KnowledgeEntry,
  room: number,
  findChangedFile: FindChangedFile | undefined,
): string | undefined {
  // Far too long even if half of it could not be seen: not worth looking through.
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

/** On one line, without anything that a model would read and a person would not see. */
function toVisibleLine(content: string): string {
  const onOneLine = content.replace(LINE_BREAKS, " ");
  return removeInvisible(onOneLine).text.replace(/ {2,}/g, " ").trim();
}
