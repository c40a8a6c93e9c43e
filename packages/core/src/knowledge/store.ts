import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { JsonlWriter } from "../infrastructure/fs/jsonl-writer.ts";
import { readKnowledgeTail } from "../infrastructure/paths/knowledge.ts";
import { generateEntryId, now } from "../infrastructure/runtime.ts";
import { systemErrorCode, systemErrorText } from "../infrastructure/system-error.ts";
import {
  type GuardAppend,
  KNOWLEDGE_TYPES,
  type KnowledgeEntry,
  type KnowledgeFile,
  type KnowledgeRemoval,
  type KnowledgeType,
  knowledgeFilePath,
} from "./types.ts";

/**
 * Appends an entry to `knowledge.jsonl` in the directory `knowledgePath`: one JSON object per line, with one write, so
 * that several processes may append at once. Directory (0700) and file (0600) are created if missing.
 * @param guard checks whether the file may be written, and records the trust in the result.
 * @throws Error with the path and the reason.
 */
export async function appendKnowledge(
  knowledgePath: string,
  entry: KnowledgeEntry,
  guard?: GuardAppend,
): Promise<void> {
  await appendGuarded(knowledgePath, [entry], guard);
}

/** Appends several entries with one write; an id that the file has already is replaced. @throws like `appendKnowledge`. */
export async function appendEntries(
  knowledgePath: string,
  entries: readonly KnowledgeEntry[],
  guard?: GuardAppend,
): Promise<void> {
  if (entries.length > 0) await appendGuarded(knowledgePath, entries, guard);
}

/**
 * Removes entries by their ids: appends a removal line for each, all in one write. @throws Error like
 * `appendKnowledge`.
 */
export async function removeKnowledge(
  knowledgePath: string,
  ids: readonly string[],
  guard?: GuardAppend,
): Promise<void> {
  if (ids.length === 0) return;
  const timestamp = new Date(now()).toISOString();
  const removals = ids.map((removes): KnowledgeRemoval => ({ id: generateEntryId(), timestamp, removes }));
  await appendGuarded(knowledgePath, removals, guard);
}

/**
 * The entries in the file that were not removed, the oldest line first, including superseded ones; empty without a
 * file. Damaged lines and other lines are skipped; of lines with the same id the last one applies.
 * @throws Error if the file or its directory is not readable or could have been written by another user.
 */
export async function readKnowledge(knowledgePath: string): Promise<KnowledgeEntry[]> {
  const entries = new Map<string, KnowledgeEntry>();
  for (const line of readLines(knowledgePath)) {
    const parsed = parseKnowledgeLine(line);
    if (parsed === undefined) continue;
    if ("removes" in parsed) {
      entries.delete(parsed.removes);
    } else {
      entries.delete(parsed.id);
      entries.set(parsed.id, parsed);
    }
  }
  return [...entries.values()];
}

function readLines(knowledgePath: string): string[] {
  const path = knowledgeFilePath(knowledgePath);
  if (!hasOwnDirectory(knowledgePath)) return [];
  try {
    const { bytes, isWhole } = readKnowledgeTail(path);
    const lines = new TextDecoder().decode(bytes).split("\n");
    // The first line of a partly read file has lost its beginning.
    return (isWhole ? lines : lines.slice(1)).filter((line) => line !== "");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function appendGuarded(
  knowledgePath: string,
  lines: readonly (KnowledgeEntry | KnowledgeRemoval)[],
  guard: GuardAppend | undefined,
): Promise<void> {
  const append = () => appendLines(knowledgePath, lines);
  if (guard === undefined) append();
  else await guard(JSON.stringify(lines[0]), append);
}

function appendLines(knowledgePath: string, lines: readonly (KnowledgeEntry | KnowledgeRemoval)[]): void {
  if (!hasOwnDirectory(knowledgePath)) mkdirSync(knowledgePath, { recursive: true, mode: 0o700 });
  const path = knowledgeFilePath(knowledgePath);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) {
    throw new Error(`${path} is ${stats.isSymbolicLink() ? "a symbolic link" : "not a regular file"}`);
  }
  const file = new JsonlWriter(path);
  try {
    if (file.append(...lines) < lines.length) throw new Error(`${path} could not be written completely`);
    file.sync();
  } finally {
    file.close();
  }
}

/** False if the directory does not exist. A link in a repository would redirect knowledge elsewhere. */
function hasOwnDirectory(knowledgePath: string): boolean {
  const parent = dirname(knowledgePath);
  if (basename(parent) === ".diligent") assertNoLink(parent);
  const stats = assertNoLink(knowledgePath);
  if (stats === undefined) return false;
  if (!stats.isDirectory()) throw new Error(`${knowledgePath} is a file; knowledge needs a directory there`);
  return true;
}

function assertNoLink(path: string): Stats | undefined {
  const stats = statOrUndefined(path);
  if (stats?.isSymbolicLink()) {
    throw new Error(`${path} is a symbolic link; knowledge is only saved in a real directory`);
  }
  return stats;
}

function statOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new Error(`${path} cannot be used: ${systemErrorText(error)}`);
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads one line of a knowledge file. Undefined for a line that is not JSON, lacks a required field or has a field
 * of the wrong type: it is skipped. Unknown fields are kept; a confidence out of range is clamped.
 */
function parseKnowledgeLine(line: string): KnowledgeEntry | KnowledgeRemoval | undefined {
  const value = parseObject(line);
  if (!value || typeof value.id !== "string" || value.id === "" || typeof value.timestamp !== "string") {
    return undefined;
  }
  const place = { id: value.id, timestamp: value.timestamp };
  if (value.removes === undefined) return readEntry(value, place);
  return typeof value.removes === "string" ? { ...place, removes: value.removes } : undefined;
}

function parseObject(line: string): JsonObject | undefined {
  try {
    // Some file systems leave zeros after a power failure.
    const value: unknown = JSON.parse(line.replaceAll("\0", ""));
    return isObject(value) ? value : undefined;
  } catch {
    // The line is truncated, or written by another program.
    return undefined;
  }
}

function readEntry(
  value: JsonObject,
  place: Pick<KnowledgeEntry, "id" | "timestamp">,
): KnowledgeEntry | undefined {
  const {
    type,
    content,
    confidence,
    sessionId,
    entryId,
    supersedes,
    tags,
    files,
    reviewed,
    keptWith,
    ...unknown
  } = value;
  if (!isKnowledgeType(type) || typeof content !== "string" || content.trim() === "") return undefined;
  if (typeof confidence !== "number") return undefined;
  if (!isOptional(sessionId, isString) || !isOptional(entryId, isString)) return undefined;
  if (!isOptional(supersedes, isString) || !isOptional(tags, isListOf(isString))) return undefined;
  if (!isOptional(files, isListOf(isFile))) return undefined;
  return {
    ...unknown,
    ...place,
    ...(sessionId !== undefined && { sessionId }),
    ...(entryId !== undefined && { entryId }),
    type,
    content,
    confidence: Math.min(1, Math.max(0, confidence)),
    ...(supersedes !== undefined && { supersedes }),
    ...(tags !== undefined && { tags }),
    ...(files !== undefined && { files }),
    // A damaged mark of the user costs a second review, not the entry.
    ...(isString(reviewed) && { reviewed }),
    ...(isListOf(isString)(keptWith) && { keptWith }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isKnowledgeType(value: unknown): value is KnowledgeType {
  return KNOWLEDGE_TYPES.some((type) => type === value);
}

function isFile(value: unknown): value is KnowledgeFile {
  return isObject(value) && isString(value.path) && isString(value.hash);
}

function isListOf<T>(isElement: (value: unknown) => value is T): (value: unknown) => value is T[] {
  return (value): value is T[] => Array.isArray(value) && value.every(isElement);
}

function isOptional<T>(value: unknown, isKind: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || isKind(value);
}
