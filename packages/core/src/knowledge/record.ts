import { nearestNames } from "../infrastructure/nearest-name.ts";
import { generateEntryId, now } from "../infrastructure/runtime.ts";
import { findSecretText, removeInvisible } from "../infrastructure/text/unicode.ts";
import { rankKnowledge } from "./ranker.ts";
import { findMentionedFiles } from "./stale-files.ts";
import { appendKnowledge, readKnowledge } from "./store.ts";
import type { GuardAppend, KnowledgeEntry } from "./types.ts";

/** A knowledge entry to save. */
type KnowledgeDraft = Pick<KnowledgeEntry, "type" | "content" | "confidence" | "supersedes" | "tags">;

/** The ids are stored with the entry, to show where it was learned. */
interface RecordingCircumstances {
  sessionId?: string | undefined;
  entryId?: string | undefined;
  /** The project root, real: files in it that the text names are recorded; none without it. */
  root?: string | undefined;
  /** See `appendKnowledge`. */
  guard?: GuardAppend | undefined;
}

/** Invalid text is not an outcome: it throws. */
type RecordingOutcome =
  | { kind: "saved"; entry: KnowledgeEntry }
  /** Nothing was written: this entry already has the same content. */
  | { kind: "known"; entry: KnowledgeEntry };

/**
 * Saves an entry without invisible characters, unless an active entry other than the superseded one already has the
 * same content. @throws Error with a message for the model, for a text that looks like a key, and for a `supersedes`
 * that names no active entry.
 */
export async function recordKnowledge(
  knowledgePath: string,
  draft: KnowledgeDraft,
  { sessionId, entryId, root, guard }: RecordingCircumstances = {},
): Promise<RecordingOutcome> {
  const content = removeInvisible(draft.content).text.trim();
  if (content === "") throw new Error("Not saved: it has no visible text.");
  assertNoSecret(content, draft.tags);
  const entries = await readKnowledge(knowledgePath);
  const active = rankKnowledge(entries);
  if (draft.supersedes !== undefined) assertActive(draft.supersedes, { draft, entries, active });
  const others = active.filter(({ id }) => id !== draft.supersedes);
  const known = findNearDuplicate(others, content);
  if (known) return { kind: "known", entry: known };
  const files = root === undefined ? [] : findMentionedFiles(content, root);
  const entry: KnowledgeEntry = {
    id: newId(entries),
    timestamp: new Date(now()).toISOString(),
    ...(sessionId !== undefined && { sessionId }),
    ...(entryId !== undefined && { entryId }),
    type: draft.type,
    content,
    confidence: draft.confidence,
    ...(draft.supersedes !== undefined && { supersedes: draft.supersedes }),
    ...(draft.tags && draft.tags.length > 0 && { tags: draft.tags }),
    ...(files.length > 0 && { files }),
  };
  await appendKnowledge(knowledgePath, entry, guard);
  return { kind: "saved", entry };
}

function assertNoSecret(content: string, tags: readonly string[] = []): void {
  const secret = findSecretText([content, ...tags.map((tag) => removeInvisible(tag).text)].join("\n"));
  if (secret === undefined) return;
  throw new Error(
    `Not saved: this seems to contain ${secret}, and knowledge is kept in plain text and sent with every request. ` +
      "Say where the key is kept instead, such as the name of its variable.",
  );
}

interface Known {
  draft: KnowledgeDraft;
  entries: readonly KnowledgeEntry[];
  active: readonly KnowledgeEntry[];
}

function assertActive(id: string, { draft, entries, active }: Known): void {
  if (active.some((entry) => entry.id === id)) return;
  const reason = entries.some((entry) => entry.id === id)
    ? `${id} was already replaced by a later entry.`
    : `There is no knowledge with the id "${id}".`;
  const likely = listLikely(id, draft.content, active);
  const hint = likely.length === 0 ? "There is no entry to replace: leave supersedes out." : "Likely ids:\n";
  throw new Error(`Not saved: ${reason} ${hint}${likely.map(describeEntry).join("\n")}`);
}

const MAX_LIKELY = 5;

/** Entries with a similar id, then entries about the same subject. */
function listLikely(id: string, content: string, active: readonly KnowledgeEntry[]): KnowledgeEntry[] {
  const similarIds = new Set(
    nearestNames(
      id,
      active.map((entry) => entry.id),
      2,
    ),
  );
  const alike = active
    .map((entry) => ({ entry, likeness: measureSimilarity(entry.content, content) }))
    .sort((left, right) => right.likeness - left.likeness)
    .map(({ entry }) => entry);
  const ordered = [...alike.filter((entry) => similarIds.has(entry.id)), ...alike];
  return [...new Set(ordered)].slice(0, MAX_LIKELY);
}

/** The description of an entry for the model: its id, and a truncated copy of its line in the prompt. */
export function describeEntry({ id, type, content }: KnowledgeEntry): string {
  const line = removeInvisible(content.slice(0, 1_000)).text.replace(/\s+/g, " ").trim();
  const cut = line.length > 200 ? `${line.slice(0, 200).toWellFormed()}…` : line;
  return `${id}: [${type}] ${cut}`;
}

function newId(entries: readonly KnowledgeEntry[]): string {
  const taken = new Set(entries.map(({ id }) => id));
  let id = generateEntryId();
  while (taken.has(id)) id = generateEntryId();
  return id;
}

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
