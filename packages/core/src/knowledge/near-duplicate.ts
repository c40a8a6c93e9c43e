import { removeInvisible } from "../infrastructure/content/invisible-text.ts";
import type { KnowledgeEntry } from "./types.ts";

/** Of all the different words of two texts, the share that both have, from which on they say the same. */
const SAME_FROM = 0.85;

/** How alike two texts are, from 0 to 1: the share of their words that both have. Case and punctuation do not count. */
export function compareTexts(left: string, right: string): number {
  return compareWords(wordsOf(left), wordsOf(right));
}

/** An entry that says what `content` says, but for case, punctuation and a word in a long sentence: the most alike one. */
export function findNearDuplicate(
  entries: readonly KnowledgeEntry[],
  content: string,
): KnowledgeEntry | undefined {
  const words = wordsOf(content);
  const plain = normalise(content);
  let best: { entry: KnowledgeEntry; likeness: number } | undefined;
  for (const entry of entries) {
    const likeness = normalise(entry.content) === plain ? 1 : compareWords(words, wordsOf(entry.content));
    if (likeness >= SAME_FROM && likeness > (best?.likeness ?? 0)) best = { entry, likeness };
  }
  return best?.entry;
}

function compareWords(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const shared = left.intersection(right).size;
  const all = left.size + right.size - shared;
  return all === 0 ? 0 : shared / all;
}

function wordsOf(text: string): Set<string> {
  return new Set(normalise(text).match(/[\p{L}\p{M}\p{N}_]+/gu));
}

function normalise(text: string): string {
  return removeInvisible(text).text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}
