/** Contents that are compressed together: small files alone would not become much smaller. */
const BLOCK_BYTES = 256 * 1024;

/** Where a content lies in its block; bytes. */
export interface BlockPart {
  /** SHA-256 in hexadecimal digits. */
  hash: string;
  position: number;
  length: number;
}

/** Small contents that wait until they are worth being compressed together. */
export class PendingBlock {
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
