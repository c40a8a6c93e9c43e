import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import type { TimeSlicer } from "../../infrastructure/async.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { now } from "../../infrastructure/runtime.ts";
import type { FileEntry } from "../entries.ts";

const MODE_BITS = 0o7777;
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const PIECE_BYTES = 1024 * 1024;

// The kernel's file clock advances at least every 10 ms; on file systems with whole seconds, every two seconds.
const TICK_MS = 40;
const COARSE_TICK_MS = 2_100;

/** An entry for a file that was not read. */
export function toFileEntry(stats: Stats, hash?: string): FileEntry {
  return {
    kind: "file",
    mode: stats.mode & MODE_BITS,
    size: stats.size,
    modifiedMs: stats.mtimeMs,
    changedMs: stats.ctimeMs,
    inode: stats.ino,
    hash,
    uid: stats.uid,
    gid: stats.gid,
    ...(stats.nlink > 1 && { links: stats.nlink }),
  };
}

/** True when the file, including its permissions, was not changed in between. */
export function isUntouched(before: FileEntry, { ctimeMs, mtimeMs, size, ino, mode }: Stats): boolean {
  return (
    before.changedMs === ctimeMs &&
    before.modifiedMs === mtimeMs &&
    before.size === size &&
    before.inode === ino &&
    before.mode === (mode & MODE_BITS)
  );
}

/** A file that was read completely. */
interface ReadFile {
  /** Valid until the next file is read. */
  content: Uint8Array;
  entry: FileEntry;
}

/**
 * Reads files completely, one after the other, into the same memory as long as they are small. A pipe or link that
 * replaced a file is neither waited for nor followed.
 */
export class FileReader {
  private readonly memory = Buffer.allocUnsafe(PIECE_BYTES);

  /**
   * @param seen the stats found by the scan.
   * @returns undefined when the file is missing, was replaced by another kind of entry, or is not readable.
   */
  async read(absolute: string, seen: Stats, slices?: TimeSlicer): Promise<ReadFile | undefined> {
    const file = openQuietly(absolute);
    if (file === undefined) return undefined;
    try {
      const content = seen.size < PIECE_BYTES ? this.readSmall(file) : await readLarge(file, slices);
      if (content === undefined) return undefined;
      const stats = fstatSync(file);
      if (!stats.isFile()) return undefined;
      const entry = toFileEntry(stats, Bun.SHA256.hash(content, "hex"));
      const isSteady = stats.mtimeMs === seen.mtimeMs && content.length === stats.size && !isRecent(stats);
      return { content, entry: isSteady ? entry : { ...entry, isFresh: true } };
    } catch {
      return undefined; // The disk reports an error, or the entry can no longer be read.
    } finally {
      closeSync(file);
    }
  }

  private readSmall(file: number): Uint8Array | undefined {
    let length = 0;
    for (;;) {
      const count = readSync(file, this.memory, length, PIECE_BYTES - length, null);
      length += count;
      if (count === 0) return this.memory.subarray(0, length);
      // It has grown since the scan: the next scan reads it as a large file.
      if (length === PIECE_BYTES) return undefined;
    }
  }
}

async function readLarge(file: number, slices: TimeSlicer | undefined): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for (;;) {
    if (slices?.isDue) await slices.pause();
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const count = readSync(file, piece, 0, PIECE_BYTES, null);
    if (count === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, count));
  }
}

/** True when a change in the same tick of the file system's clock would leave the times unchanged. */
function isRecent({ ctimeMs }: Stats): boolean {
  const isCoarse = Number.isInteger(ctimeMs / 1000);
  return ctimeMs > now() - (isCoarse ? COARSE_TICK_MS : TICK_MS);
}

function openQuietly(absolute: string): number | undefined {
  try {
    return openSync(toSystemPath(absolute), OPEN_FLAGS);
  } catch {
    return undefined; // It is missing or not readable.
  }
}
