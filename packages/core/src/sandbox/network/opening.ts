import { toCanonicalHost } from "../../infrastructure/network/addresses.ts";
import { type FirstBytes, readClientHello } from "./client-hello.ts";
import type { SocketReader } from "./socket-reader.ts";

/** The first bytes of a client in a tunnel. */
export type Opening =
  /** TLS for the tunnel's own host, or a protocol that is not inspected. */
  | { kind: "opaque" }
  /** A plain HTTP request, which names a host itself. */
  | { kind: "http" }
  /** TLS for another host; the problem is a clause. */
  | { kind: "refused"; problem: string };

const MAX_OPENING_BYTES = 64 * 1024;

/**
 * Looks at the first bytes of a client in a tunnel to `host`; they stay to be read. A server for several hosts answers
 * for the one that the client names in there, so that one has to be the host that was allowed.
 */
export async function inspectOpening(reader: SocketReader, host: string): Promise<Opening> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const chunk = await reader.read();
    bytes = Buffer.concat([bytes, chunk ?? Buffer.alloc(0)]);
    const isComplete = chunk === undefined || bytes.length > MAX_OPENING_BYTES;
    const opening = findOpening(bytes, host, isComplete);
    if (opening === undefined) continue;
    // Servers ignore empty lines before a request.
    const start = opening.kind === "http" ? bytes.findIndex((byte) => byte !== 0x0d && byte !== 0x0a) : 0;
    reader.unread(bytes.subarray(start));
    return opening;
  }
}

/** Undefined while more bytes are needed and may still arrive. */
function findOpening(bytes: Buffer, host: string, isComplete: boolean): Opening | undefined {
  const hello = readClientHello(bytes);
  switch (hello.kind) {
    case "client_hello":
      return checkServerName(hello, host);
    case "malformed":
      return { kind: "refused", problem: "its TLS names no server that could be read" };
    case "incomplete":
      if (!isComplete) return undefined;
      return bytes.length === 0
        ? { kind: "opaque" }
        : { kind: "refused", problem: "its TLS broke off before it named a server" };
    case "not_tls":
      return findPlainOpening(bytes, isComplete);
  }
}

function checkServerName(
  { serverName }: Extract<FirstBytes, { kind: "client_hello" }>,
  host: string,
): Opening {
  if (serverName === undefined || toCanonicalHost(serverName) === host) return { kind: "opaque" };
  return { kind: "refused", problem: `its TLS asks for ${JSON.stringify(serverName)}` };
}

/** An HTTP request shows in its first line; servers accept empty lines before it. */
function findPlainOpening(bytes: Buffer, isComplete: boolean): Opening | undefined {
  const text = bytes.toString("latin1").replace(/^[\r\n]+/, "");
  const [line = "", ...more] = text.split("\n", 2);
  if (more.length > 0) return { kind: / HTTP\/\d/.test(line) ? "http" : "opaque" };
  const mayBecomeHttp = /^[!-~]{0,40}$|^[!-~]{1,40} /.test(line);
  if (!mayBecomeHttp) return { kind: "opaque" };
  if (!isComplete) return undefined;
  // A first line that is too long for us may be short enough for the server.
  return { kind: line.includes(" ") ? "http" : "opaque" };
}
