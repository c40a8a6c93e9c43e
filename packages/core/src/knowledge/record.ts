import { nearestNames } from "../infrastructure/nearest-name.ts";
import { generateEntryId, now } from "../infrastructure/runtime.ts";
import { findSecretText, removeInvisible } from "../infrastructure/text/unicode.ts";
import { rankKnowledge } from "./ranker.ts";
import { findContradicted, findNearDuplicate, measureSimilarity } from "./similar.ts";
import { findMentionedFiles } from "./stale-files.ts";
import { appendKnowledge, readKnowledge } from "./store.ts";
import type { GuardAppend, KnowledgeEntry } from "./types.ts";

/** A knowledge entry to save. */
type KnowledgeDraft = Pick<
  KnowledgeEntry,
  "type" | "content" | "confidence" | "supersedes" | "tags" | "reviewed"
>;

/** The ids are stored with the entry, to show where it was learned. */
interface RecordingCircumstances {
  sessionId?: string | undefined;
  entryId?: string | undefined;
  /** The project root, real: files in it that the text names are recorded; none without it. */
  root?: string | undefined;
  /** Paths of further files that the entry is about, from the project root. */
  knownFiles?: readonly string[] | undefined;
  /** See `appendKnowledge`. */
  guard?: GuardAppend | undefined;
}

/** Invalid text is not an outcome: it throws. `contradicted` is an active entry that may say the opposite. */
type RecordingOutcome =
  | { kind: "saved"; entry: KnowledgeEntry; contradicted: KnowledgeEntry | undefined }
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
  { sessionId, entryId, root, knownFiles = [], guard }: RecordingCircumstances = {},
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
  const files = root === undefined ? [] : findMentionedFiles(content, root, knownFiles);
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
    ...(draft.reviewed !== undefined && { reviewed: draft.reviewed }),
  };
  await appendKnowledge(knowledgePath, entry, guard);
  return { kind: "saved", entry, contradicted: findContradicted(others, entry) };
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
