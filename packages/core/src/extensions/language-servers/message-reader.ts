const SEPARATOR = Buffer.from("\r\n\r\n");
const MAX_HEADER_BYTES = 4 * 1024;
// Far above any useful message: the errors of one file, or the places of one name.
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
// A server that sends more than this reports about more than it was asked, without an end.
const MAX_BYTES = 24 * 1024 * 1024;
const MAX_MESSAGES = 100_000;
// Long enough to notice it on a busy machine, too.
const WINDOW_MS = 60_000;

/**
 * Splits what a server prints into messages: a header with `Content-Length`, an empty line, JSON. What is no message is
 * an error, as is more than a server can have to say; the libraries of the protocol know no such limits.
 */
export class MessageReader {
  private chunks: Uint8Array[] = [];
  private size = 0;
  /** Of the message that is being read; undefined while its header is. */
  private length: number | undefined;
  private window = { startedAt: 0, bytes: 0, messages: 0 };

  constructor(
    private readonly onMessage: (message: Record<string, unknown>) => void,
    private readonly clock: () => number,
  ) {}

  /** @throws Error with a sentence when it is not the protocol, or too much. */
  write(chunk: Uint8Array): void {
    this.count({ bytes: chunk.length, messages: 0 });
    this.chunks.push(chunk);
    this.size += chunk.length;
    while (this.length === undefined ? this.takeHeader() : this.takeMessage()) {}
  }

  private takeHeader(): boolean {
    const buffer = this.join();
    const end = buffer.indexOf(SEPARATOR);
    if (end === -1) {
      if (buffer.length > MAX_HEADER_BYTES)
        throw new Error("It does not speak the language server protocol.");
      return false;
    }
    const header = buffer.subarray(0, end).toString("latin1");
    const length = Number(/^content-length: *(\d{1,15})\s*$/im.exec(header)?.[1] ?? Number.NaN);
    if (!Number.isSafeInteger(length) || end > MAX_HEADER_BYTES)
      throw new Error("It does not speak the language server protocol.");
    if (length > MAX_MESSAGE_BYTES)
      throw new Error(`It has sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB.`);
    this.replace(buffer.subarray(end + SEPARATOR.length));
    this.length = length;
    return true;
  }

  private takeMessage(): boolean {
    const { length = 0 } = this;
    if (this.size < length) return false;
    const buffer = this.join();
    const text = buffer.subarray(0, length).toString();
    this.replace(buffer.subarray(length));
    this.length = undefined;
    this.count({ bytes: 0, messages: 1 });
    const message = parse(text);
    if (message === undefined) throw new Error("It has sent a message that is not valid JSON.");
    this.onMessage(message);
    return true;
  }

  private count({ bytes, messages }: { bytes: number; messages: number }): void {
    const at = this.clock();
    if (at - this.window.startedAt > WINDOW_MS) this.window = { startedAt: at, bytes: 0, messages: 0 };
    this.window.bytes += bytes;
    this.window.messages += messages;
    if (this.window.bytes > MAX_BYTES || this.window.messages > MAX_MESSAGES)
      throw new Error("It sends more than a server can have to say.");
  }

  private join(): Buffer {
    const [first] = this.chunks;
    const whole =
      this.chunks.length === 1 && first
        ? Buffer.from(first.buffer, first.byteOffset, first.length)
        : Buffer.concat(this.chunks);
    this.chunks = [whole];
    return whole;
  }

  private replace(rest: Uint8Array): void {
    this.chunks = rest.length === 0 ? [] : [rest];
    this.size = rest.length;
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
