/** The meaning of the first bytes of a connection. */
export type FirstBytes =
  /** More bytes are needed to decide. */
  | { kind: "incomplete" }
  | { kind: "not_tls" }
  /** The beginning of a TLS connection, with the server name that the client asks for, if it does. */
  | { kind: "client_hello"; serverName?: string }
  /** Unreadable TLS: the requested server is unknown. */
  | { kind: "malformed" };

const HANDSHAKE_RECORD = 0x16;
const CLIENT_HELLO = 1;
const RECORD_HEADER_BYTES = 5;
const MAX_HELLO_BYTES = 64 * 1024;
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME = 0;

/** Reads a ClientHello of TLS 1.0 to 1.3 (RFC 8446, 4.1.2), at any record boundaries. */
export function readClientHello(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return { kind: "incomplete" };
  if (bytes[0] !== HANDSHAKE_RECORD || (bytes.length > 1 && bytes[1] !== 3)) return { kind: "not_tls" };
  const fragments: Buffer[] = [];
  let handshake = Buffer.alloc(0);
  for (let at = 0; ; ) {
    if (handshake.length >= 4) {
      const length = 4 + handshake.readUIntBE(1, 3);
      if (handshake[0] !== CLIENT_HELLO || length > MAX_HELLO_BYTES) return { kind: "malformed" };
      if (handshake.length >= length) return readServerName(handshake.subarray(4, length));
    }
    if (bytes.length < at + RECORD_HEADER_BYTES) return { kind: "incomplete" };
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE_RECORD || length === 0) return { kind: "malformed" };
    if (bytes.length < at + RECORD_HEADER_BYTES + length) return { kind: "incomplete" };
    fragments.push(bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length));
    handshake = Buffer.concat(fragments);
    at += RECORD_HEADER_BYTES + length;
  }
}

/** Thrown at the end of the given bytes if a field states a greater length. */
class FieldReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  /** The content of a field with its length, a number of `size` bytes, in front. */
  field(size: number): FieldReader {
    return new FieldReader(this.take(this.number(size)));
  }

  take(size: number): Buffer {
    if (this.at + size > this.bytes.length) throw new RangeError("The field is longer than its container.");
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  get text(): string {
    return this.bytes.toString("latin1");
  }
}

const VERSION_AND_RANDOM_BYTES = 2 + 32;

function readServerName(body: Buffer): FirstBytes {
  try {
    const reader = new FieldReader(body);
    reader.take(VERSION_AND_RANDOM_BYTES);
    // The session, the ciphers, the compression methods.
    for (const size of [1, 2, 1]) reader.field(size);
    if (reader.isAtEnd) return { kind: "client_hello" };
    const extensions = reader.field(2);
    const names: string[] = [];
    while (!extensions.isAtEnd) {
      const type = extensions.number(2);
      const content = extensions.field(2);
      if (type === SERVER_NAME_EXTENSION) names.push(...readNames(content));
    }
    const [serverName, ...more] = names;
    if (more.length > 0) return { kind: "malformed" };
    return { kind: "client_hello", ...(serverName !== undefined && { serverName }) };
  } catch (error) {
    if (error instanceof RangeError) return { kind: "malformed" };
    throw error;
  }
}

function readNames(extension: FieldReader): string[] {
  const list = extension.field(2);
  const names: string[] = [];
  while (!list.isAtEnd) {
    const type = list.number(1);
    const name = list.field(2);
    if (type === HOST_NAME) names.push(name.text);
  }
  return names;
}
