/** Keeps the last `capacity` bytes of whatever is written to it. */
export class ByteRing {
  private readonly bytes: Uint8Array;
  /** Where the next byte goes. */
  private position = 0;
  private total = 0;

  constructor(private readonly capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  write(chunk: Uint8Array): void {
    this.total += chunk.length;
    const kept = chunk.subarray(Math.max(0, chunk.length - this.capacity));
    const first = kept.subarray(0, this.capacity - this.position);
    this.bytes.set(first, this.position);
    this.bytes.set(kept.subarray(first.length), 0);
    this.position = (this.position + kept.length) % this.capacity;
  }

  /** The kept bytes in order, as a copy; at most the last `maxBytes` of them. */
  read(maxBytes: number = this.capacity): Buffer {
    const all =
      this.total < this.capacity
        ? Buffer.from(this.bytes.subarray(0, this.position))
        : Buffer.concat([this.bytes.subarray(this.position), this.bytes.subarray(0, this.position)]);
    return all.subarray(Math.max(0, all.length - maxBytes));
  }
}
