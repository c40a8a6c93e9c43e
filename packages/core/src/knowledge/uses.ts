import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileSize } from "../infrastructure/fs/directory.ts";
import { JsonlWriter } from "../infrastructure/fs/jsonl-writer.ts";
import { readOwnTail } from "../infrastructure/fs/read.ts";
import { userStateDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, now, randomHex } from "../infrastructure/runtime.ts";
import { systemErrorCode } from "../infrastructure/system-error.ts";

/** How often the model was given an entry. */
export interface KnowledgeUse {
  /** The number of sessions that sent it. */
  count: number;
  /** When the last of them began to, ISO 8601. */
  last: string;
}

// About a thousand sessions; older ones are no longer counted.
const MAX_BYTES = 1024 * 1024;

/** The project's file in the user's state directory: a project must not be able to ship one. */
function usesPath(root: string, environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory && join(directory, "knowledge-uses", `${Bun.SHA256.hash(root, "hex").slice(0, 32)}.jsonl`);
}

/** Counts that a session has sent these entries to its model. @throws Error if that cannot be saved. */
export function noteKnowledgeUse(root: string, ids: readonly string[], environment: Environment): void {
  const path = usesPath(root, environment);
  if (path === undefined || ids.length === 0) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if ((fileSize(path) ?? 0) > MAX_BYTES) shorten(path);
  const file = new JsonlWriter(path);
  try {
    file.append({ timestamp: new Date(now()).toISOString(), ids });
  } finally {
    file.close();
  }
}

/** Two processes at once may lose the count of one session. */
function shorten(path: string): void {
  const { bytes } = readOwnTail(path, MAX_BYTES / 2);
  const draft = `${path}.${randomHex(6)}`;
  writeFileSync(draft, bytes.subarray(bytes.indexOf(0x0a) + 1), { mode: 0o600 });
  renameSync(draft, path);
}

/** The uses of a project's entries by their ids. Damaged lines are skipped. @throws Error if it cannot be read. */
export function readKnowledgeUses(root: string, environment: Environment): Map<string, KnowledgeUse> {
  const uses = new Map<string, KnowledgeUse>();
  const path = usesPath(root, environment);
  if (path === undefined) return uses;
  for (const line of readTailLines(path)) {
    const use = parseUse(line);
    for (const id of use?.ids ?? []) {
      const before = uses.get(id);
      const last = before && before.last > (use?.timestamp ?? "") ? before.last : (use?.timestamp ?? "");
      uses.set(id, { count: (before?.count ?? 0) + 1, last });
    }
  }
  return uses;
}

function readTailLines(path: string): string[] {
  try {
    return new TextDecoder().decode(readOwnTail(path, 2 * MAX_BYTES).bytes).split("\n");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function parseUse(line: string): { timestamp: string; ids: string[] } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("timestamp" in value) || !("ids" in value))
      return undefined;
    const { timestamp, ids } = value;
    if (typeof timestamp !== "string" || !Array.isArray(ids)) return undefined;
    return { timestamp, ids: [...new Set(ids.filter((id) => typeof id === "string"))] };
  } catch {
    return undefined; // Empty, or truncated.
  }
}
