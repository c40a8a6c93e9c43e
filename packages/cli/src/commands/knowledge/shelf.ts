import { type loadKnowledge, nearestNames } from "@diligent/core/light";
import type { KnowledgeEntry } from "@diligent/core/run";
import type { CliIo } from "../../cli-io.ts";
import { toSingleLine } from "../../terminal-text.ts";
import { UsageError } from "../../usage-error.ts";

/** What a call of `diligent knowledge` asks for, checked. */
export interface KnowledgeCall {
  ids: readonly string[];
  isJson: boolean;
  isDryRun: boolean;
  io: CliIo;
}

/** A project's knowledge, with what reads and writes it. */
export interface KnowledgeShelf {
  library: Awaited<ReturnType<typeof loadKnowledge>>;
  /** The directory of the file. */
  path: string;
  /** The project root. */
  root: string;
  /** In the order of the file, superseded ones included. */
  entries: readonly KnowledgeEntry[];
}

const MAX_CANDIDATES = 5;

/**
 * The entry with this id, or the only one whose id begins so.
 * @throws UsageError with the candidates when there is none or more than one.
 */
export function findEntry(entries: readonly KnowledgeEntry[], reference: string): KnowledgeEntry {
  const matches = reference === "" ? [] : entries.filter(({ id }) => id.startsWith(reference));
  const exact = matches.find(({ id }) => id === reference);
  const [first] = matches;
  if (exact) return exact;
  if (first && matches.length === 1) return first;
  if (first)
    throw new UsageError(`${matches.length} ids begin with ${reference}: ${listCandidates(matches)}`);
  if (entries.length === 0) throw new UsageError(`there is no knowledge ${reference}; there is none yet`);
  const near = nearestNames(
    reference,
    entries.map(({ id }) => id),
    MAX_CANDIDATES,
  );
  const candidates = near.length === 0 ? entries.toReversed() : entries.filter(({ id }) => near.includes(id));
  const question = near.length === 0 ? "the newest are" : "did you mean";
  throw new UsageError(`there is no knowledge ${reference}; ${question} ${listCandidates(candidates)}`);
}

function listCandidates(entries: readonly KnowledgeEntry[]): string {
  const shown = entries.slice(0, MAX_CANDIDATES).map((entry) => describeShortly(entry));
  const more = entries.length > shown.length ? `, and ${entries.length - shown.length} more` : "";
  return shown.join(", ") + more;
}

/** `a1b2c3d4 (what it says…)`, for a message. */
export function describeShortly({ id, content }: KnowledgeEntry): string {
  return `${toSingleLine(id, 40)} (${toSingleLine(content, 40)})`;
}

/** The entry and what it has replaced, the newest first; a circle ends where it closes. */
export function listReplaced(entry: KnowledgeEntry, entries: readonly KnowledgeEntry[]): KnowledgeEntry[] {
  const byId = new Map(entries.map((each) => [each.id, each]));
  const chain = new Set<KnowledgeEntry>();
  let current: KnowledgeEntry | undefined = entry;
  while (current && !chain.has(current)) {
    chain.add(current);
    current = current.supersedes === undefined ? undefined : byId.get(current.supersedes);
  }
  return [...chain];
}
