import type { JSONRPCMessage } from "@modelcontextprotocol/client";

// Far above any useful message; a server that goes beyond it has lost its line ends.
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
const NEWLINE = 10;
// How much of a line that is no message is worth keeping.
const MAX_OTHER_BYTES = 4096;

interface MessageSink {
  onMessage(message: JSONRPCMessage): void;
  /** A line that is no message, with its end. */
  onOther(line: Uint8Array): void;
}

/** Splits what a server prints into lines, each of which holds one message. */
export class StdoutMessages {
  private chunks: Uint8Array[] = [];
  private size = 0;

  constructor(private readonly sink: MessageSink) {}

  /** @throws Error when a line is too long. */
  write(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.add(chunk.subarray(start, end));
      this.flush();
      start = end + 1;
    }
    this.add(chunk.subarray(start));
  }

  private add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.size += part.length;
    if (this.size > MAX_MESSAGE_BYTES)
      throw new Error(`It has sent a line of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB.`);
    this.chunks.push(part);
  }

  private flush(): void {
    const { chunks } = this;
    const [first, second] = chunks;
    const line = second === undefined ? Buffer.from(first ?? []) : Buffer.concat(chunks);
    this.chunks = [];
    this.size = 0;
    const message = parseMessage(line);
    if (message) this.sink.onMessage(message);
    else if (line.length > 0) this.sink.onOther(Buffer.concat([line.subarray(0, MAX_OTHER_BYTES), LINE_END]));
  }
}

const LINE_END = Buffer.from("\n");

/** Undefined for a line that is no message, such as a greeting. */
function parseMessage(line: Buffer): JSONRPCMessage | undefined {
  // Most other lines are recognized without parsing them.
  if (line.find((byte) => byte > 32) !== OPENING_BRACE) return undefined;
  try {
    const value: unknown = JSON.parse(line.toString());
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const OPENING_BRACE = 123;

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}
