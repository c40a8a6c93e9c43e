import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { now } from "../infrastructure/clock.ts";
import { generateEntryId } from "../infrastructure/ids.ts";
import { readOwnTail } from "../infrastructure/reading/file-tail.ts";
import { systemErrorCode, systemErrorText } from "../infrastructure/system-error.ts";
import { JsonlWriter } from "../infrastructure/writing/jsonl-writer.ts";
import { knowledgeFilePath } from "./knowledge-file.ts";
import { parseKnowledgeLine } from "./parse-line.ts";
import type { KnowledgeEntry, KnowledgeRemoval } from "./types.ts";

/**
 * Of a longer file the newest 32 MB are read: a hundred thousand entries of a paragraph each, which take a third of a
 * second. What is older has long been forgotten by then.
 */
export const MAX_KNOWLEDGE_BYTES = 32 * 1024 * 1024;

/**
 * Adds an entry to `knowledge.jsonl` in the directory `knowledgePath`: one JSON object a line, only ever appended to,
 * with one write, so that several processes may do it at once. Directory (0700) and file (0600) are made where they
 * are missing.
 * @throws Error that names the path and why it could not be written.
 */
export async function appendKnowledge(knowledgePath: string, entry: KnowledgeEntry): Promise<void> {
  appendLines(knowledgePath, [entry]);
}

/**
 * Takes entries away, by their ids: each gets a line that says so, all of them with one write.
 * @throws Error as `appendKnowledge` does.
 */
export async function removeKnowledge(knowledgePath: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const timestamp = new Date(now()).toISOString();
  const removals = ids.map((removes): KnowledgeRemoval => ({ id: generateEntryId(), timestamp, removes }));
  appendLines(knowledgePath, removals);
}

/**
 * The entries in the file that were not removed since, the oldest line first, superseded ones included; none without a
 * file. Damaged lines and lines that are no entries are passed over; of lines with the same id the last one counts.
 * @throws Error where the file, or its directory, may not be read or could have been written by somebody else.
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
    const { bytes, isWhole } = readOwnTail(path, MAX_KNOWLEDGE_BYTES);
    const lines = new TextDecoder().decode(bytes).split("\n");
    // The first one of a part has lost its beginning.
    return (isWhole ? lines : lines.slice(1)).filter((line) => line !== "");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw new Error(`${path} is not read: ${describeFailure(error)}`);
  }
}

function appendLines(knowledgePath: string, lines: readonly (KnowledgeEntry | KnowledgeRemoval)[]): void {
  if (!hasOwnDirectory(knowledgePath)) mkdirSync(knowledgePath, { recursive: true, mode: 0o700 });
  const path = knowledgeFilePath(knowledgePath);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) {
    throw new Error(`${path} is ${stats.isSymbolicLink() ? "a symbolic link" : "no regular file"}`);
  }
  const file = new JsonlWriter(path);
  try {
    if (file.append(...lines) < lines.length) throw new Error(`${path} could not be written to its end`);
    file.sync();
  } finally {
    file.close();
  }
}

/** False where there is nothing yet. A link that a repository brings along would take knowledge elsewhere. */
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
    throw new Error(`${path} is a symbolic link; knowledge is kept only in a directory of its own`);
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

function describeFailure(error: unknown): string {
  if (systemErrorCode(error) === "ELOOP") return "it is a symbolic link";
  return systemErrorText(error);
}
