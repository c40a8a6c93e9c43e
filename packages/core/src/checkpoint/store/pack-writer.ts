import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from "node:fs";
import { describeWriteError } from "../../infrastructure/writing/write-error.ts";
import { type BlobPlace, writePackRecord } from "./pack-record.ts";
import { type BlockPart, PendingBlock } from "./pending-block.ts";

// What shrinks by less is not worth being unpacked.
const WORTHWHILE = 0.97;
// The fastest: the first look at a project is waited for.
const LEVEL = 1;

/**
 * Appends contents to a file of its own, `NAME.pack`, and where they lie to `NAME.idx`. The content is always on its way
 * before its record: a record that points beyond the end of the pack was cut off with it, and does not count.
 */
export class PackWriter {
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
    private readonly onKept: (hash: string, place: BlobPlace) => void,
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
