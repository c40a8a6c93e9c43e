import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { TimeSlicer } from "../../infrastructure/async.ts";
import { describeWriteError, systemErrorCode } from "../../infrastructure/system-error.ts";

/** Which packs are read, and which one is written. */
interface BlobStoreOptions {
  /** Directories of packs that are read. */
  directories: readonly string[];
  /** The one of them in which this process has its own pack, and that pack's name. */
  own: { directory: string; name: string };
}

/** Contents by their SHA-256 (hexadecimal). Each process writes into a pack of its own, and reads those of all. */
export class BlobStore {
  private readonly places = new Map<string, BlobLocation>();
  private readonly own: PackWriter;
  /** What waits in the pack's block; it can be read once that is written. */
  private readonly waiting = new Set<string>();
  private lastBlock: { name: string; content: Uint8Array } | undefined;

  private constructor(private readonly options: BlobStoreOptions) {
    const { directory, name } = options.own;
    this.own = new PackWriter(directory, name, (hash, place) => {
      this.waiting.delete(hash);
      this.places.set(hash, place);
    });
  }

  /** @throws errors of the file system. */
  static async open(options: BlobStoreOptions, slices: TimeSlicer): Promise<BlobStore> {
    const store = new BlobStore(options);
    for (const directory of options.directories) await readPackIndexes(directory, store.places, slices);
    return store;
  }

  /** The path of this process's own pack. */
  get ownPack(): string {
    return join(this.options.own.directory, `${this.options.own.name}.pack`);
  }

  /** Bytes that this process has added. */
  get ownSize(): number {
    return this.own.size;
  }

  has(hash: string): boolean {
    return this.places.has(hash) || this.waiting.has(hash);
  }

  /** `content` may change once this has resolved. @throws Error when it cannot be written. */
  async keep(hash: string, content: Uint8Array): Promise<void> {
    if (this.has(hash)) return;
    this.waiting.add(hash);
    try {
      await this.own.add(hash, content);
    } catch (error) {
      this.waiting.delete(hash);
      throw error;
    }
  }

  /** Puts everything that was kept on its way to the disk. @throws Error when it cannot be written. */
  flush(): void {
    this.own.flush();
  }

  /** Undefined when it is not there or was damaged. */
  read(hash: string): Uint8Array | undefined {
    if (this.waiting.has(hash)) this.flush();
    const place = this.places.get(hash);
    if (!place) return undefined;
    const content = this.readBlock(place)?.subarray(place.position, place.position + place.length);
    return content && Bun.SHA256.hash(content, "hex") === hash ? content : undefined;
  }

  close(): void {
    this.own.close();
  }

  /** Takes back what this process has added. */
  discard(): void {
    this.own.remove();
  }

  private readBlock(place: BlobLocation): Uint8Array | undefined {
    // An empty block begins where the next one does.
    const name = `${place.pack} ${place.offset} ${place.storedLength}`;
    if (this.lastBlock?.name === name) return this.lastBlock.content;
    const content = readStored(place);
    if (content) this.lastBlock = { name, content };
    return content;
  }
}

function readStored({ pack, offset, storedLength, isCompressed }: BlobLocation): Uint8Array | undefined {
  try {
    const file = openSync(pack, constants.O_RDONLY);
    try {
      const stored = Buffer.alloc(storedLength);
      let length = 0;
      for (let count = -1; count !== 0 && length < storedLength; length += count)
        count = readSync(file, stored, length, storedLength - length, offset + length);
      return isCompressed ? Bun.zstdDecompressSync(stored) : stored;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // The pack is gone, or what is in it is no longer what was written.
  }
}

/** Where a content lies. Sizes and positions are bytes. */
interface BlobLocation {
  /** Absolute path of the pack. */
  pack: string;
  /** The block that it is a part of: compressed as a whole. */
  offset: number;
  storedLength: number;
  isCompressed: boolean;
  /** Its part of the block. */
  position: number;
  length: number;
}

const HASH_BYTES = 32;
const OFFSET_BYTES = 6;
const LENGTH_BYTES = 4;

/** One of these for each content, beside its pack: hash, offset (6), three lengths (4 each), how it is stored (1). */
const RECORD_BYTES = HASH_BYTES + OFFSET_BYTES + 3 * LENGTH_BYTES + 1;

/** `hash` is hexadecimal. */
function writePackRecord(hash: string, place: Omit<BlobLocation, "pack">): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  let at = record.write(hash, "hex");
  at = record.writeUIntBE(place.offset, at, OFFSET_BYTES);
  for (const length of [place.storedLength, place.position, place.length])
    at = record.writeUInt32BE(length, at);
  record.writeUInt8(place.isCompressed ? 1 : 0, at);
  return record;
}

/** `start` is where the record begins in `records`, in bytes. */
function readPackRecord(records: Buffer, start: number, pack: string): [hash: string, place: BlobLocation] {
  const hash = records.toString("hex", start, start + HASH_BYTES);
  const offset = records.readUIntBE(start + HASH_BYTES, OFFSET_BYTES);
  const lengths = start + HASH_BYTES + OFFSET_BYTES;
  const [storedLength, position, length] = [0, 1, 2].map((index) =>
    records.readUInt32BE(lengths + index * LENGTH_BYTES),
  );
  const isCompressed = records.readUInt8(lengths + 3 * LENGTH_BYTES) === 1;
  return [
    hash,
    {
      pack,
      offset,
      storedLength: storedLength ?? 0,
      isCompressed,
      position: position ?? 0,
      length: length ?? 0,
    },
  ];
}

// What shrinks by less is not worth being unpacked.
const WORTHWHILE = 0.97;
// The fastest: the first look at a project is waited for.
const LEVEL = 1;

/**
 * Appends contents to a file of its own, `NAME.pack`, and where they lie to `NAME.idx`. The content is always on its way
 * before its record: a record that points beyond the end of the pack was cut off with it, and does not count.
 */
class PackWriter {
  readonly path: string;
  private readonly indexPath: string;
  private pack: number | undefined;
  private index: number | undefined;
  private readonly block = new PendingBlock();
  private isClosed = false;
  /** Bytes of the pack so far. */
  size = 0;

  /**
   * The files are made (0600) with the first content.
   * @param onKept told where each content lies once it does.
   */
  constructor(
    directory: string,
    name: string,
    private readonly onKept: (hash: string, place: BlobLocation) => void,
  ) {
    this.path = `${directory}/${name}.pack`;
    this.indexPath = `${directory}/${name}.idx`;
  }

  get isEmpty(): boolean {
    return this.pack === undefined;
  }

  /** @throws Error, which names the file, when it cannot be written: this writer is of no use any more then. */
  async add(hash: string, content: Uint8Array): Promise<void> {
    if (!this.block.fits(content)) this.flush();
    if (!this.block.isBeyond(content)) return this.block.add(hash, content);
    const compressed = await Bun.zstdCompress(content, { level: LEVEL });
    this.writeBlock(content, compressed, [{ hash, position: 0, length: content.length }]);
  }

  /** Writes what waits. @throws as `add` does. */
  flush(): void {
    const { content, parts } = this.block;
    if (parts.length === 0) return;
    this.writeBlock(content, Bun.zstdCompressSync(content, { level: LEVEL }), parts);
    this.block.clear();
  }

  /** Nothing can be added any more. */
  close(): void {
    this.isClosed = true;
    for (const file of [this.pack, this.index]) if (file !== undefined) closeSync(file);
    this.pack = undefined;
    this.index = undefined;
  }

  /** Nothing of it is needed. */
  remove(): void {
    const { isEmpty } = this;
    this.close();
    if (isEmpty) return;
    for (const path of [this.path, this.indexPath]) rmSync(path, { force: true });
  }

  /** A full disk is not to be filled with half a block as well. */
  private cutOff(size: number): void {
    try {
      if (this.pack !== undefined) ftruncateSync(this.pack, size);
    } catch {
      // The error that led here is the one to be told.
    }
  }

  private writeBlock(content: Uint8Array, compressed: Uint8Array, parts: readonly BlockPart[]): void {
    const isCompressed = compressed.length < content.length * WORTHWHILE;
    const stored = isCompressed ? compressed : content;
    const place = { pack: this.path, offset: this.size, storedLength: stored.length, isCompressed };
    const places = parts.map(({ hash, ...part }) => ({ hash, place: { ...place, ...part } }));
    try {
      if (this.isClosed) throw new Error("it was closed");
      this.pack ??= openSync(this.path, "ax", 0o600);
      this.index ??= openSync(this.indexPath, "ax", 0o600);
      append(this.pack, stored);
      this.size += stored.length;
      append(this.index, Buffer.concat(places.map((part) => writePackRecord(part.hash, part.place))));
    } catch (error) {
      this.cutOff(place.offset);
      throw describeWriteError(this.path, error);
    }
    for (const part of places) this.onKept(part.hash, part.place);
  }
}

function append(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const count = writeSync(file, bytes, done);
    if (count === 0) throw new Error("nothing was written");
    done += count;
  }
}

/** Contents that are compressed together: small files alone would not become much smaller. */
const BLOCK_BYTES = 256 * 1024;

/** Where a content lies in its block; bytes. */
interface BlockPart {
  /** SHA-256 in hexadecimal digits. */
  hash: string;
  position: number;
  length: number;
}

/** Small contents that wait until they are worth being compressed together. */
class PendingBlock {
  private readonly memory = Buffer.allocUnsafe(BLOCK_BYTES);
  private filled = 0;
  private waiting: BlockPart[] = [];

  get parts(): readonly BlockPart[] {
    return this.waiting;
  }

  /** Good until something is added again after `clear`. */
  get content(): Uint8Array {
    return this.memory.subarray(0, this.filled);
  }

  /** True where a content is too large for any block. */
  isBeyond(content: Uint8Array): boolean {
    return content.length > BLOCK_BYTES;
  }

  /** True where there is room for a content. */
  fits(content: Uint8Array): boolean {
    return this.filled + content.length <= BLOCK_BYTES;
  }

  /** `content` is copied, and has to fit. */
  add(hash: string, content: Uint8Array): void {
    this.memory.set(content, this.filled);
    this.waiting.push({ hash, position: this.filled, length: content.length });
    this.filled += content.length;
  }

  clear(): void {
    this.filled = 0;
    this.waiting = [];
  }
}

/** Where the contents of all packs in a directory lie, added to `places`. Torn ends and packs that went away do not count. */
async function readPackIndexes(
  directory: string,
  places: Map<string, BlobLocation>,
  slices: TimeSlicer,
): Promise<void> {
  for (const name of listIndexes(directory)) {
    const pack = join(directory, `${name.slice(0, -".idx".length)}.pack`);
    const records = readWhole(join(directory, name));
    const size = statSync(pack, { throwIfNoEntry: false })?.size ?? 0;
    for (let start = 0; start + RECORD_BYTES <= records.length; start += RECORD_BYTES) {
      if (slices.isDue) await slices.pause();
      const [hash, place] = readPackRecord(records, start, pack);
      if (place.offset + place.storedLength <= size) places.set(hash, place);
    }
  }
}

function listIndexes(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".idx"));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function readWhole(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    // Another process has just found that it needs none of it.
    if (systemErrorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
