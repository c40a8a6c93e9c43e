import { readFileSync, writeFileSync } from "node:fs";
import { type EntryRecord, isPathInside, readEntryRecord, toEntryRecord } from "../entry-record.ts";
import type { Slices } from "../slices.ts";
import type { TreeEntry } from "../tree-entry.ts";

const ENTRIES_AT_ONCE = 500;
// Compressed sooner than it is handed to a thread.
const SMALL_BYTES = 64 * 1024;

/** Writes what was in a project, compressed: a line `[path, ENTRY]` each. @throws errors of the file system. */
export async function writeBase(
  path: string,
  entries: ReadonlyMap<string, TreeEntry>,
  slices: Slices,
): Promise<void> {
  const pieces: Buffer[] = [];
  let lines: string[] = [];
  for (const [entryPath, entry] of entries) {
    lines.push(JSON.stringify([entryPath, toEntryRecord(entry)]));
    if (lines.length < ENTRIES_AT_ONCE) continue;
    pieces.push(Buffer.from(`${lines.join("\n")}\n`));
    lines = [];
    if (slices.isDue) await slices.pause();
  }
  pieces.push(Buffer.from(lines.join("\n")));
  writeFileSync(path, await compress(Buffer.concat(pieces)), { mode: 0o600, flag: "wx" });
}

function compress(content: Buffer): Buffer | Promise<Buffer> {
  const options = { level: 1 };
  return content.length < SMALL_BYTES
    ? Bun.zstdCompressSync(content, options)
    : Bun.zstdCompress(content, options);
}

/** Undefined when it cannot be read: it is gone, or was cut off. */
export async function readBase(path: string, slices: Slices): Promise<Map<string, TreeEntry> | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  const entries = new Map<string, TreeEntry>();
  for (let start = 0; start < text.length; ) {
    if (slices.isDue) await slices.pause();
    const end = text.indexOf(10, start);
    const line = text.toString("utf8", start, end < 0 ? text.length : end);
    const [entryPath, entry] = parseLine(line);
    if (entryPath === undefined || entry === undefined) return undefined;
    entries.set(entryPath, entry);
    start = end < 0 ? text.length : end + 1;
  }
  return entries;
}

async function readText(path: string): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await Bun.zstdDecompress(readFileSync(path)));
  } catch {
    return undefined; // Without it everything is looked at anew.
  }
}

function parseLine(line: string): [path?: string, entry?: TreeEntry | undefined] {
  try {
    const [path, record]: [unknown, EntryRecord] = JSON.parse(line);
    return typeof path === "string" && isPathInside(path) ? [path, readEntryRecord(record)] : [];
  } catch {
    return []; // A line that is none makes all of it worthless.
  }
}
