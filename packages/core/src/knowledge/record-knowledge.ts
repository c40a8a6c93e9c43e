import { now } from "../infrastructure/clock.ts";
import { removeInvisible } from "../infrastructure/content/invisible-text.ts";
import { findSecretText } from "../infrastructure/content/secret-text.ts";
import { generateEntryId } from "../infrastructure/ids.ts";
import { nearestNames } from "../infrastructure/nearest-name.ts";
import { findMentionedFiles } from "./mentioned-files.ts";
import { compareTexts, findNearDuplicate } from "./near-duplicate.ts";
import { rankKnowledge } from "./ranker.ts";
import { appendKnowledge, readKnowledge } from "./store.ts";
import type { KnowledgeEntry } from "./types.ts";

/** What somebody wants to be remembered. */
export type KnowledgeDraft = Pick<KnowledgeEntry, "type" | "content" | "confidence" | "supersedes" | "tags">;

/** The ids are kept with the entry, for looking up where something was learned. */
export interface KnowledgeOrigin {
  sessionId?: string | undefined;
  entryId?: string | undefined;
  /** The project root, real: files of it that the text names are noted. Without it none are. */
  root?: string | undefined;
}

/** What may not be saved is no outcome: it is thrown. */
export type RecordingOutcome =
  | { kind: "saved"; entry: KnowledgeEntry }
  /** Nothing was written: this entry says it already. */
  | { kind: "known"; entry: KnowledgeEntry };

/**
 * Saves a piece of knowledge, without what nobody could see in it, unless an active entry other than the one it
 * supersedes says the same already.
 * @throws Error, in words for the model, for what looks like a key, and for a `supersedes` that names no active entry.
 */
export async function recordKnowledge(
  knowledgePath: string,
  draft: KnowledgeDraft,
  { sessionId, entryId, root }: KnowledgeOrigin = {},
): Promise<RecordingOutcome> {
  const content = removeInvisible(draft.content).text.trim();
  if (content === "") throw new Error("Not saved: there is nothing to see in it.");
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
  await appendKnowledge(knowledgePath, entry);
  return { kind: "saved", entry };
}

function assertNoSecret(content: string, tags: readonly string[] = []): void {
  const secret = findSecretText([content, ...tags.map((tag) => removeInvisible(tag).text)].join("\n"));
  if (secret === undefined) return;
  throw new Error(
    `Not saved: this looks like it holds ${secret}, and knowledge is kept in plain text and sent with every request. ` +
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
    ? `${id} was replaced already by a later entry.`
    : `There is no knowledge with the id "${id}".`;
  const likely = listLikely(id, draft.content, active);
  const hint = likely.length === 0 ? "There is none to replace: leave supersedes out." : "Likely ids:\n";
  throw new Error(`Not saved: ${reason} ${hint}${likely.map(describeEntry).join("\n")}`);
}

const MAX_LIKELY = 5;

/** Those with a similar id, then those that speak of the same. */
function listLikely(id: string, content: string, active: readonly KnowledgeEntry[]): KnowledgeEntry[] {
  const similarIds = new Set(
    nearestNames(
      id,
      active.map((entry) => entry.id),
      2,
    ),
  );
  const alike = active
    .map((entry) => ({ entry, likeness: compareTexts(entry.content, content) }))
    .sort((left, right) => right.likeness - left.likeness)
    .map(({ entry }) => entry);
  const ordered = [...alike.filter((entry) => similarIds.has(entry.id)), ...alike];
  return [...new Set(ordered)].slice(0, MAX_LIKELY);
}

/** As the model is told about an entry: its id, and what the prompt says of it, cut. */
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
