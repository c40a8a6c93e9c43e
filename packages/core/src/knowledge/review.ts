import { now } from "../infrastructure/runtime.ts";
import { rankKnowledge } from "./ranker.ts";
import { recordKnowledge } from "./record.ts";
import { findContradictions } from "./similar.ts";
import { createStaleCheck, hashKnownFiles } from "./stale-files.ts";
import { appendEntries, readKnowledge } from "./store.ts";
import type { GuardAppend, KnowledgeEntry } from "./types.ts";

/** Something that the user should decide about an active entry. */
export type ReviewItem =
  /** `other` says something else about the same subject. */
  | { kind: "contradiction"; entry: KnowledgeEntry; other: KnowledgeEntry }
  | { kind: "stale"; entry: KnowledgeEntry; changedFile: string }
  /** The user has not seen it yet. */
  | { kind: "new"; entry: KnowledgeEntry };

/**
 * What waits for a decision: contradictions, then entries whose files have changed, then those that were never
 * reviewed, the newest first. An entry with a contradiction is listed only for that.
 * @param root the project, real.
 */
export function listReviewItems(entries: readonly KnowledgeEntry[], root: string): ReviewItem[] {
  const active = new Set(rankKnowledge(entries));
  const inOrder = entries.filter((entry) => active.has(entry));
  const contradictions = findContradictions(inOrder);
  const paired = new Set(contradictions.flat());
  const findChangedFile = createStaleCheck(root);
  const stale: ReviewItem[] = [];
  const fresh: ReviewItem[] = [];
  for (const entry of inOrder.toReversed()) {
    if (paired.has(entry)) continue;
    const changedFile = findChangedFile(entry);
    if (changedFile !== undefined) stale.push({ kind: "stale", entry, changedFile });
    else if (entry.reviewed === undefined) fresh.push({ kind: "new", entry });
  }
  return [
    ...contradictions.map(([entry, other]): ReviewItem => ({ kind: "contradiction", entry, other })),
    ...stale,
    ...fresh,
  ];
}

interface ReviewLocation {
  /** The directory of the file. */
  path: string;
  /** The project, real. */
  root: string;
  guard?: GuardAppend | undefined;
}

/**
 * Confirms entries: they count as reviewed, with their files as they are now, and those given together do not
 * contradict each other. Files that no longer exist are dropped.
 * @throws Error like `appendKnowledge`.
 */
export async function keepKnowledge(
  ids: readonly string[],
  { path, root, guard }: ReviewLocation,
): Promise<void> {
  const reviewed = new Date(now()).toISOString();
  const kept = (await readKnowledge(path)).filter(({ id }) => ids.includes(id));
  const lines = kept.map(({ files, keptWith = [], ...entry }): KnowledgeEntry => {
    const current = hashKnownFiles(files?.map((file) => file.path) ?? [], root);
    const together = [...new Set([...keptWith, ...kept.map(({ id }) => id)])].filter((id) => id !== entry.id);
    return {
      ...entry,
      ...(current.length > 0 && { files: current }),
      reviewed,
      ...(together.length > 0 && { keptWith: together }),
    };
  });
  await appendEntries(path, lines, guard);
}

/**
 * Replaces the text of an entry by the user's; returns the new entry, or undefined if there is no such active entry.
 * It keeps where it was learned, and its files as they are now, besides those that the new text names.
 * @throws Error for an empty text, one with a key, and one that another entry has already.
 */
export async function editKnowledge(
  id: string,
  content: string,
  { path, root, guard }: ReviewLocation,
): Promise<KnowledgeEntry | undefined> {
  const before = rankKnowledge(await readKnowledge(path)).find((entry) => entry.id === id);
  if (!before) return undefined;
  const { type, confidence, tags, sessionId, entryId, files } = before;
  const reviewed = new Date(now()).toISOString();
  const draft = { type, content, confidence, supersedes: id, reviewed, ...(tags && { tags }) };
  const knownFiles = files?.map((file) => file.path);
  const outcome = await recordKnowledge(path, draft, { sessionId, entryId, knownFiles, root, guard });
  if (outcome.kind === "known")
    throw new Error(`Entry ${outcome.entry.id} says the same; remove this one instead.`);
  return outcome.entry;
}
