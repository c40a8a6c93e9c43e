import { removeInvisible } from "../infrastructure/content/invisible-text.ts";
import { readTerms, type Term } from "./text-terms.ts";
import type { KnowledgeEntry } from "./types.ts";

/** Of all the different pairs of neighbouring words of two texts, the share that both have, from which on they say the same. */
const SAME_FROM = 0.85;

/** How alike two texts are in what they speak of, from 0 to 1: the share of their words that both have, in any order. */
export function compareTexts(left: string, right: string): number {
  return shareOf(wordsOf(left), wordsOf(right));
}

/**
 * An entry that says what `content` says: the same words in the same order, but for case, punctuation and a few words
 * more in one of them. A negation, a number, a path or an identifier that only one of them has makes them different, and
 * so does a word in another's place. Of several the most alike one.
 */
export function findNearDuplicate(
  entries: readonly KnowledgeEntry[],
  content: string,
): KnowledgeEntry | undefined {
  const terms = readTerms(content);
  const plain = normalise(content);
  let best: { entry: KnowledgeEntry; likeness: number } | undefined;
  for (const entry of entries) {
    const others = readTerms(entry.content);
    // Signs alone are no words.
    const isWordless = terms.length === 0 && others.length === 0;
    const likeness = isWordless ? Number(normalise(entry.content) === plain) : compareTerms(others, terms);
    if (likeness >= SAME_FROM && likeness > (best?.likeness ?? 0)) best = { entry, likeness };
  }
  return best?.entry;
}

function compareTerms(left: readonly Term[], right: readonly Term[]): number {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  const added = findAdded(short, long);
  if (added === undefined || added.some(({ isTelling }) => isTelling)) return 0;
  return added.length === 0 ? 1 : shareOf(pairsOf(short), pairsOf(long));
}

/** What a longer text has besides the words of the shorter one; undefined where those do not follow each other in it. */
function findAdded(short: readonly Term[], long: readonly Term[]): Term[] | undefined {
  let matched = 0;
  const added = long.filter(({ text }) => {
    if (text !== short[matched]?.text) return true;
    matched++;
    return false;
  });
  return matched === short.length ? added : undefined;
}

function pairsOf(terms: readonly Term[]): Set<string> {
  return new Set(terms.slice(1).map(({ text }, index) => `${terms[index]?.text} ${text}`));
}

function shareOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
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
