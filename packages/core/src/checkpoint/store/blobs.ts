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
import { LargeFileStore } from "./large-files.ts";

/** The packs that are read, and the one that is written. */
interface BlobStoreOptions {
  /** Directories with packs. */
  directories: readonly string[];
  /** The directory of this process's own pack, and the pack's name. */
  own: { directory: string; name: string };
}

/** Stores contents by their SHA-256 (hexadecimal). Each process writes into its own pack and reads all packs. */
export class BlobStore {
  private readonly locations = new Map<string, BlobLocation>();
  private readonly own: PackWriter;
  /** Git objects that are too large to be copied. */
  readonly largeFiles: LargeFileStore;
  /** Contents in the pack's pending block; they can be read once it is written. */
  private readonly waiting = new Set<string>();
  private lastBlock: { name: string; content: Uint8Array } | undefined;

  private constructor(private readonly options: BlobStoreOptions) {
    const { directory, name } = options.own;
    this.largeFiles = new LargeFileStore(options.directories, directory);
    this.own = new PackWriter(directory, name, (hash, location) => {
      this.waiting.delete(hash);
      this.locations.set(hash, location);
    });
  }

  /** @throws errors of the file system. */
  static async open(options: BlobStoreOptions, slices: TimeSlicer): Promise<BlobStore> {
    const store = new BlobStore(options);
    for (const directory of options.directories) await readPackIndexes(directory, store.locations, slices);
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
    return this.locations.has(hash) || this.waiting.has(hash);
  }

  /** `content` may be changed once this has resolved. @throws Error when it cannot be written. */
  async add(hash: string, content: Uint8Array): Promise<void> {
    if (this.has(hash)) return;
    this.waiting.add(hash);
    try {
      await this.own.add(hash, content);
    } catch (error) {
      this.waiting.delete(hash);
      throw error;
    }
  }

  /** Writes all pending contents. @throws Error when they cannot be written. */
  flush(): void {
    this.own.flush();
  }

  /** Undefined when it is missing or damaged. */
  read(hash: string): Uint8Array | undefined {
    if (this.waiting.has(hash)) this.flush();
    const location = this.locations.get(hash);
    if (!location) return undefined;
    const content = this.readBlock(location)?.subarray(
      location.position,
      location.position + location.length,
    );
    return content && Bun.SHA256.hash(content, "hex") === hash ? content : undefined;
  }

  close(): void {
    this.own.close();
  }

  /** Deletes the contents that this process has added. */
  discard(): void {
    this.own.remove();
    this.largeFiles.discard();
  }

  private readBlock(location: BlobLocation): Uint8Array | undefined {
    // An empty block starts at the same offset as the next one.
    const name = `${location.pack} ${location.offset} ${location.storedLength}`;
    if (this.lastBlock?.name === name) return this.lastBlock.content;
    const content = readStored(location);
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
    return undefined; // The pack is gone, or its contents have changed.
  }
}

/** The location of a content. Sizes and positions are bytes. */
interface BlobLocation {
  /** Absolute path of the pack. */
  pack: string;
  /** The block that contains it; a block is compressed as a whole. */
  offset: number;
  storedLength: number;
  isCompressed: boolean;
  /** Its position inside the block. */
  position: number;
  length: number;
}

const HASH_BYTES = 32;
const OFFSET_BYTES = 6;
const LENGTH_BYTES = 4;

/** The size of an index record, one for each content: hash, offset (6), three lengths (4 each), encoding (1). */
const RECORD_BYTES = HASH_BYTES + OFFSET_BYTES + 3 * LENGTH_BYTES + 1;

/** @param hash hexadecimal. */
function writePackRecord(hash: string, location: Omit<BlobLocation, "pack">): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  let at = record.write(hash, "hex");
  at = record.writeUIntBE(location.offset, at, OFFSET_BYTES);
  for (const length of [location.storedLength, location.position, location.length])
    at = record.writeUInt32BE(length, at);
  record.writeUInt8(location.isCompressed ? 1 : 0, at);
  return record;
}

/** @param start the record's offset in `records`, in bytes. */
function readPackRecord(
  records: Buffer,
  start: number,
  pack: string,
): [hash: string, location: BlobLocation] {
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

// Smaller savings are not worth decompressing.
const WORTHWHILE = 0.97;
// The fastest level: the user waits for the first scan of a project.
const LEVEL = 1;

/**
 * Appends contents to its own file `NAME.pack`, and their locations to `NAME.idx`. The content is always written before
 * its record: a record that points beyond the end of the pack was truncated with it, and is ignored.
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
   * The files are created (0600) with the first content.
   * @param onWritten called with the location of each written content.
   */
  constructor(
    directory: string,
    name: string,
    private readonly onWritten: (hash: string, location: BlobLocation) => void,
  ) {
    this.path = `${directory}/${name}.pack`;
    this.indexPath = `${directory}/${name}.idx`;
  }

  get isEmpty(): boolean {
    return this.pack === undefined;
  }

  /** @throws Error, which names the file, when it cannot be written: this writer is unusable then. */
  async add(hash: string, content: Uint8Array): Promise<void> {
    if (!this.block.fits(content)) this.flush();
    if (!this.block.isBeyond(content)) return this.block.add(hash, content);
    const compressed = await Bun.zstdCompress(content, { level: LEVEL });
    this.writeBlock(content, compressed, [{ hash, position: 0, length: content.length }]);
  }

  /** Writes the pending block. @throws like `add`. */
  flush(): void {
    const { content, parts } = this.block;
    if (parts.length === 0) return;
    this.writeBlock(content, Bun.zstdCompressSync(content, { level: LEVEL }), parts);
    this.block.clear();
  }

  /** Nothing can be added afterwards. */
  close(): void {
    this.isClosed = true;
    for (const file of [this.pack, this.index]) if (file !== undefined) closeSync(file);
    this.pack = undefined;
    this.index = undefined;
  }

  /** Deletes the files. */
  remove(): void {
    const { isEmpty } = this;
    this.close();
    if (isEmpty) return;
    for (const path of [this.path, this.indexPath]) rmSync(path, { force: true });
  }

  /** Half a block must not fill a full disk further. */
  private cutOff(size: number): void {
    try {
      if (this.pack !== undefined) ftruncateSync(this.pack, size);
    } catch {
      // The original error is the one to report.
    }
  }

  private writeBlock(content: Uint8Array, compressed: Uint8Array, parts: readonly BlockPart[]): void {
    const isCompressed = compressed.length < content.length * WORTHWHILE;
    const stored = isCompressed ? compressed : content;
    const location = { pack: this.path, offset: this.size, storedLength: stored.length, isCompressed };
    const locations = parts.map(({ hash, ...part }) => ({ hash, location: { ...location, ...part } }));
    try {
      if (this.isClosed) throw new Error("the pack is closed");
      this.pack ??= openSync(this.path, "ax", 0o600);
      this.index ??= openSync(this.indexPath, "ax", 0o600);
      append(this.pack, stored);
      this.size += stored.length;
      append(this.index, Buffer.concat(locations.map((part) => writePackRecord(part.hash, part.location))));
    } catch (error) {
      this.cutOff(location.offset);
      throw describeWriteError(this.path, error);
    }
    for (const part of locations) this.onWritten(part.hash, part.location);
  }
}

function append(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const count = writeSync(file, bytes, done);
    if (count === 0) throw new Error("nothing was written");
    done += count;
  }
}

/** Contents that are compressed together: a small file alone hardly shrinks. */
const BLOCK_BYTES = 256 * 1024;

/** The location of a content in its block; bytes. */
interface BlockPart {
  /** SHA-256 in hexadecimal digits. */
  hash: string;
  position: number;
  length: number;
}

/** Collects small contents until they are worth compressing together. */
class PendingBlock {
  private readonly memory = Buffer.allocUnsafe(BLOCK_BYTES);
  private filled = 0;
  private waiting: BlockPart[] = [];

  get parts(): readonly BlockPart[] {
    return this.waiting;
  }

  /** Valid until something is added after `clear`. */
  get content(): Uint8Array {
    return this.memory.subarray(0, this.filled);
  }

  /** True when a content is too large for any block. */
  isBeyond(content: Uint8Array): boolean {
    return content.length > BLOCK_BYTES;
  }

  /** True when the block has room for a content. */
  fits(content: Uint8Array): boolean {
    return this.filled + content.length <= BLOCK_BYTES;
  }

  /** Copies `content`, which has to fit. */
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

/**
 * Adds the locations of the contents of all packs in a directory to `locations`. Truncated ends and deleted packs are
 * ignored.
 */
async function readPackIndexes(
  directory: string,
  locations: Map<string, BlobLocation>,
  slices: TimeSlicer,
): Promise<void> {
  for (const name of listIndexes(directory)) {
    const pack = join(directory, `${name.slice(0, -".idx".length)}.pack`);
    const records = readWhole(join(directory, name));
    const size = statSync(pack, { throwIfNoEntry: false })?.size ?? 0;
    for (let start = 0; start + RECORD_BYTES <= records.length; start += RECORD_BYTES) {
      if (slices.isDue) await slices.pause();
      const [hash, location] = readPackRecord(records, start, pack);
      if (location.offset + location.storedLength <= size) locations.set(hash, location);
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
    // Another process has just deleted it because it was not needed.
    if (systemErrorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
