import type { Socket } from "node:net";

/**
 * Reads a connection chunk by chunk, never faster than the chunks are taken: a slow receiver slows its sender down,
 * and nothing is buffered beyond one chunk.
 */
export class SocketReader {
  private readonly chunks: Buffer[] = [];
  private isEnded = false;
  private arrival: PromiseWithResolvers<void> | undefined;

  constructor(private readonly socket: Socket) {
    socket.on("data", (chunk: Buffer) => {
      this.chunks.push(chunk);
      socket.pause();
      this.arrival?.resolve();
    });
    const end = () => {
      this.isEnded = true;
      this.arrival?.resolve();
    };
    // A broken connection ends like any other; the writer notices the difference.
    for (const event of ["end", "close", "error"]) socket.on(event, end);
  }

  /** The next bytes, which remain unread; undefined at the end. */
  async peek(): Promise<Buffer | undefined> {
    while (this.chunks.length === 0 && !this.isEnded) {
      this.arrival ??= Promise.withResolvers<void>();
      this.socket.resume();
      await this.arrival.promise;
      this.arrival = undefined;
    }
    return this.chunks[0];
  }

  /** The next bytes; undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    await this.peek();
    return this.chunks.shift();
  }

  /** Returns bytes that were read in excess. */
  unread(bytes: Buffer): void {
    if (bytes.length > 0) this.chunks.unshift(bytes);
  }

  /** Exactly this many bytes; undefined if the connection ends earlier. */
  async readExactly(count: number): Promise<Buffer | undefined> {
    let bytes = Buffer.alloc(0);
    while (bytes.length < count) {
      const chunk = await this.read();
      if (chunk === undefined) return undefined;
      bytes = Buffer.concat([bytes, chunk]);
    }
    this.unread(bytes.subarray(count));
    return bytes.subarray(0, count);
  }

  /** All bytes up to and including the delimiter; undefined if it does not follow within `maxBytes`. */
  async readThrough(delimiter: string, maxBytes: number): Promise<Buffer | undefined> {
    let bytes = Buffer.alloc(0);
    for (;;) {
      const chunk = await this.read();
      if (chunk === undefined) return undefined;
      // The delimiter may have begun in the last chunk.
      const searchFrom = Math.max(0, bytes.length - delimiter.length);
      bytes = Buffer.concat([bytes, chunk]);
      const at = bytes.indexOf(delimiter, searchFrom, "latin1");
      const end = at + delimiter.length;
      if (at >= 0 && end <= maxBytes) {
        this.unread(bytes.subarray(end));
        return bytes.subarray(0, end);
      }
      if (at >= 0 || bytes.length > maxBytes) return undefined;
    }
  }
}

/** Resolves when the receiver has room for more. @throws Error if the connection is closed. */
export function writeChunk(socket: Socket, chunk: Uint8Array | string): Promise<void> {
  if (socket.destroyed || socket.writableEnded) return Promise.reject(new Error(CLOSED));
  if (socket.write(chunk)) return Promise.resolve();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const settle = () => {
    socket.off("drain", settle);
    socket.off("close", settle);
    if (socket.destroyed) reject(new Error(CLOSED));
    else resolve();
  };
  socket.on("drain", settle);
  socket.on("close", settle);
  return promise;
}

const CLOSED = "the connection is closed";

/**
 * Passes all data through until the sender ends, and then ends the receiver's side as well. @param count called with
 * the size of each chunk. @throws Error if the receiver closes earlier.
 */
export async function passOn(
  reader: SocketReader,
  receiver: Socket,
  count: (bytes: number) => void,
): Promise<void> {
  for (;;) {
    const chunk = await reader.read();
    if (chunk === undefined) break;
    count(chunk.length);
    await writeChunk(receiver, chunk);
  }
  receiver.end();
}
