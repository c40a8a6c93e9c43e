import { readFileSync } from "node:fs";
import { listSystemNames } from "../../infrastructure/fs/directory.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";

// From gitformat-pack(5), version 2.
const SIGNATURE = 0xff744f63;
const FANOUT_AT = 8;
const FANOUT_BYTES = 256 * 4;

/** The names of the objects in a pack, sorted. */
export interface PackIndex {
  count: number;
  names: Buffer;
  hashBytes: number;
}

/** @param hashBytes 20, or 32 in a repository with SHA-256. @returns undefined for what is no index of this kind. */
export function parsePackIndex(content: Uint8Array, hashBytes: number): PackIndex | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (bytes.length < FANOUT_AT + FANOUT_BYTES || bytes.readUInt32BE(0) !== SIGNATURE) return undefined;
  const count = bytes.readUInt32BE(FANOUT_AT + FANOUT_BYTES - 4);
  const start = FANOUT_AT + FANOUT_BYTES;
  const names = bytes.subarray(start, start + count * hashBytes);
  return names.length === count * hashBytes ? { count, names, hashBytes } : undefined;
}

export function listPackedObjects({ count, names, hashBytes }: PackIndex): string[] {
  return Array.from({ length: count }, (_, at) =>
    names.toString("hex", at * hashBytes, (at + 1) * hashBytes),
  );
}

function holdsObject({ count, names, hashBytes }: PackIndex, id: Buffer): boolean {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = Buffer.compare(names.subarray(middle * hashBytes, (middle + 1) * hashBytes), id);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** Which objects there are in an object store, loose and packed. Packs are read with the first question that needs them. */
export class ObjectStore {
  private packs: readonly PackIndex[] | undefined;

  /** @param directory the absolute path of `objects`. */
  constructor(private readonly directory: string) {}

  /** @param id hexadecimal. */
  has(id: string): boolean {
    if (isFile(`${this.directory}/${id.slice(0, 2)}/${id.slice(2)}`)) return true;
    this.packs ??= readPacks(`${this.directory}/pack`);
    const bytes = Buffer.from(id, "hex");
    return this.packs.some((pack) => pack.hashBytes === bytes.length && holdsObject(pack, bytes));
  }
}

/** Those of which the pack itself is there too. */
function readPacks(directory: string): PackIndex[] {
  return listSystemNames(directory)
    .filter((name) => name.endsWith(".idx") && isFile(`${directory}/${name.slice(0, -4)}.pack`))
    .flatMap((name) => {
      const content = readQuietly(`${directory}/${name}`);
      return (content && parsePackIndex(content, hashBytesOf(name))) ?? [];
    });
}

/** By the length of a pack's name: `pack-HASH.idx`. */
export function hashBytesOf(packName: string): number {
  return /[0-9a-f]{64}/.test(packName) ? 32 : 20;
}

function isFile(path: string): boolean {
  try {
    const stats = findStats(toSystemPath(path));
    return stats?.isFile() === true && stats.size > 0;
  } catch {
    return false; // It is not accessible.
  }
}

function readQuietly(path: string): Buffer | undefined {
  try {
    return readFileSync(toSystemPath(path));
  } catch {
    return undefined; // Deleted meanwhile.
  }
}
