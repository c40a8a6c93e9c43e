import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Slices } from "../slices.ts";
import type { BlobPlace } from "./pack-record.ts";
import { PackWriter } from "./pack-writer.ts";
import { readPackIndexes } from "./read-pack-index.ts";

/** Which packs are read, and which one is written. */
export interface BlobStoreOptions {
  /** Directories of packs that are read. */
  directories: readonly string[];
  /** The one of them in which this process has its own pack, and that pack's name. */
  own: { directory: string; name: string };
}

/** Contents by their SHA-256 (hexadecimal). Each process writes into a pack of its own, and reads those of all. */
export class BlobStore {
  private readonly places = new Map<string, BlobPlace>();
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
  static async open(options: BlobStoreOptions, slices: Slices): Promise<BlobStore> {
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

  private readBlock(place: BlobPlace): Uint8Array | undefined {
    // An empty block begins where the next one does.
    const name = `${place.pack} ${place.offset} ${place.storedLength}`;
    if (this.lastBlock?.name === name) return this.lastBlock.content;
    const content = readStored(place);
    if (content) this.lastBlock = { name, content };
    return content;
  }
}

function readStored({ pack, offset, storedLength, isCompressed }: BlobPlace): Uint8Array | undefined {
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
