import { removeInvisible } from "../infrastructure/text/unicode.ts";
import type { KnowledgeEntry } from "./types.ts";

/** Two texts have the same content if they share at least this part of all their different pairs of adjacent words. */
const MIN_LIKENESS = 0.85;

/** How similar the subjects of two texts are, from 0 to 1: the share of words that both contain, in any order. */
export function measureSimilarity(left: string, right: string): number {
  return shareOf(wordsOf(left), wordsOf(right));
}

/**
 * Finds an entry with the same content: the same words in the same order, except for case, punctuation and a few more
 * words in one of them. A negation, a number, a path or an identifier in only one of them makes them different, and so
 * does a replaced word. Returns the most similar one of several.
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
    // Punctuation alone is not a word.
    const hasNoWords = terms.length === 0 && others.length === 0;
    const likeness = hasNoWords ? Number(normalise(entry.content) === plain) : compareTerms(others, terms);
    if (likeness >= MIN_LIKENESS && likeness > (best?.likeness ?? 0)) best = { entry, likeness };
  }
  return best?.entry;
}

/** The most pairs that are compared: a file of thousands of entries about one subject stays cheap. */
const MAX_COMPARISONS = 100_000;
const MAX_CONTRADICTIONS = 100;
/** Two entries are about the same subject if they share at least this part of the words of the longer one. */
const MIN_COMMON = 0.5;
/** So many words may be exchanged for others; more make a different statement. */
const MAX_EXCHANGED = 3;
const MIN_TERMS = 3;

/**
 * Pairs of entries that are nearly the same and cannot both be right: one negates the other, or exactly a number, a
 * name or a few words differ. Superseded entries must be left out by the caller. Pairs that the user has kept together
 * are no contradiction. In each pair the newer entry comes first.
 */
export function findContradictions(entries: readonly KnowledgeEntry[]): [KnowledgeEntry, KnowledgeEntry][] {
  const subjects = entries.map((entry) => ({ entry, terms: readTerms(entry.content) }));
  const counts = new Map<string, number>();
  for (const { terms } of subjects)
    for (const text of new Set(terms.map((term) => term.text))) counts.set(text, (counts.get(text) ?? 0) + 1);
  const found: [KnowledgeEntry, KnowledgeEntry][] = [];
  const byWord = new Map<string, Subject[]>();
  let comparisons = 0;
  // The newest first: they are compared with each other before the limit is reached.
  for (const subject of subjects.toReversed()) {
    // Two texts that share half of their words share one of the rarer half of either.
    const words = [...new Set(subject.terms.map(({ text }) => text))];
    const rare = words
      .sort((left, right) => (counts.get(left) ?? 0) - (counts.get(right) ?? 0))
      .slice(0, Math.floor(words.length * (1 - MIN_COMMON)) + 1);
    const candidates = new Set(rare.flatMap((word) => byWord.get(word) ?? []));
    for (const candidate of candidates) {
      if (++comparisons > MAX_COMPARISONS || found.length === MAX_CONTRADICTIONS) return found;
      if (isContradiction(candidate, subject)) found.push([candidate.entry, subject.entry]);
    }
    for (const word of rare) {
      const known = byWord.get(word);
      if (known) known.push(subject);
      else byWord.set(word, [subject]);
    }
  }
  return found;
}

/** The newest of the entries that a new one may contradict. */
export function findContradicted(
  entries: readonly KnowledgeEntry[],
  entry: KnowledgeEntry,
): KnowledgeEntry | undefined {
  const subject = { entry, terms: readTerms(entry.content) };
  return entries.find((other) => isContradiction({ entry: other, terms: readTerms(other.content) }, subject));
}

interface Subject {
  entry: KnowledgeEntry;
  terms: readonly Term[];
}

function isContradiction(left: Subject, right: Subject): boolean {
  if (Math.min(left.terms.length, right.terms.length) < MIN_TERMS) return false;
  if (isKeptWith(left.entry, right.entry) || isKeptWith(right.entry, left.entry)) return false;
  const [mine, others] = [withoutCommon(left.terms, right.terms), withoutCommon(right.terms, left.terms)];
  const longer = Math.max(left.terms.length, right.terms.length);
  if ((longer - Math.max(mine.length, others.length)) / longer < MIN_COMMON) return false;
  if (mine.length > MAX_EXCHANGED || others.length > MAX_EXCHANGED) return false;
  const isNegated = ({ text }: Term) => NEGATIONS.has(text) || NEGATED_VERB.test(text);
  if (mine.some(isNegated) !== others.some(isNegated)) return true;
  // Words that only one of them has are details; words in place of others are a different statement.
  return mine.length > 0 && others.length > 0;
}

function isKeptWith({ keptWith = [] }: KnowledgeEntry, { id }: KnowledgeEntry): boolean {
  return keptWith.includes(id);
}

/** The words of the first text that the second lacks, each as often as it is missing. */
function withoutCommon(terms: readonly Term[], others: readonly Term[]): Term[] {
  const left = new Map<string, number>();
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
  return terms.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

function compareTerms(left: readonly Term[], right: readonly Term[]): number {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  const added = findAdded(short, long);
  if (added === undefined || added.some(({ isDistinctive }) => isDistinctive)) return 0;
  return added.length === 0 ? 1 : shareOf(pairsOf(short), pairsOf(long));
}

/** The additional words of the longer text; undefined if the shorter one is not contained in order. */
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

/** A word in the form used for comparing texts. */
interface Term {
  /** In lower case, unless it is an identifier, and without the punctuation around it. */
  text: string;
  /**
   * True for a word that changes the meaning of a statement: a negation, a number, a path, an identifier, an operator.
   */
  isDistinctive: boolean;
}

// The languages that notes are most often written in; in other languages the surrounding words must be equal anyway.
const NEGATIONS = new Set(
  (
    "not no non never none nothing nobody nowhere neither nor cannot without avoid except unless instead only hardly " +
    "nicht nichts nie niemals kein keine keinen keinem keiner ohne nur statt außer " +
    "ne pas jamais aucun aucune sans sauf nunca ni sin ningún ninguna solo não nem sem нет не без никогда"
  ).split(" "),
);
const NEGATED_VERB = /n't$/;

const PUNCTUATION_ONLY = /^[-–—.,;:!?…¡¿"“”„'‘’«»`*_()[\]{}|•·。、，]+$/u;
const LEADING = /^[“”"„'‘«([{`,;:¡¿]+/u;
const TRAILING = /[“”"'’»)\]}`.,;:!?…。、，]+$/u;
const EMPHASIS = /^(\*{1,3})([^*]+)\1([.,;:!?]*)$/u;

// Digits, paths, options, snake_case, member.access, operators; not letters and marks inside words.
const MARKED = /[^\p{L}\p{M}'’-]|^-/u;
const CAMEL_CASE = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u;
const CAPITALS = /^\p{Lu}[\p{Lu}'-]+$/u;

/** The words of a text in their order, without words of punctuation alone. */
function readTerms(text: string): Term[] {
  const visible = removeInvisible(text).text.normalize("NFKC").replace(/[’ʼ]/g, "'");
  const hasSmallLetters = /\p{Ll}/u.test(visible);
  return visible
    .split(/\s+/)
    .map((word) => word.replace(EMPHASIS, "$2$3"))
    .filter((word) => word !== "" && !PUNCTUATION_ONLY.test(word))
    .map((word) => toTerm(word, hasSmallLetters));
}

/** In a text written all in capitals, capital letters mean nothing. */
function toTerm(word: string, hasSmallLetters: boolean): Term {
  const bare = word.replace(LEADING, "").replace(TRAILING, "");
  const isCode = word.includes("`") || MARKED.test(bare) || CAMEL_CASE.test(bare);
  const isIdentifier = isCode || (hasSmallLetters && CAPITALS.test(bare));
  const plain = bare.toLowerCase();
  const isNegation = NEGATIONS.has(plain) || NEGATED_VERB.test(plain);
  if (isNegation) return { text: plain, isDistinctive: true };
  return { text: isIdentifier ? bare : plain, isDistinctive: isIdentifier };
}
