import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { inspectOpening } from "../../../src/sandbox/network/opening.ts";
import { SocketReader } from "../../../src/sandbox/network/socket-reader.ts";
import { recordClientHello, startServer } from "../../support/proxied-network.ts";

/** What a client with this beginning in a tunnel to `a.example` is found to be. */
async function inspect(pieces: readonly (string | Uint8Array)[], { ends = true } = {}) {
  await using server = await startServer();
  const socket = connect(server.port, "127.0.0.1");
  const reader = new SocketReader(socket);
  const sender = await server.connection(0);
  for (const piece of pieces) sender.send(piece);
  if (ends) sender.socket.end();
  const opening = await inspectOpening(reader, "a.example");
  const first = await reader.read();
  socket.destroy();
  return { ...opening, kept: first?.length ?? 0 };
}

describe("inspectOpening()", () => {
  test("accepts TLS for the tunnel's own host in any case, and keeps every byte", async () => {
    const hello = await recordClientHello("A.Example");
    expect(await inspect([hello], { ends: false })).toEqual({ kind: "opaque", kept: hello.length });
  });

  test("refuses TLS for another host, also for one below it", async () => {
    for (const name of ["b.example", "x.a.example"])
      expect(await inspect([await recordClientHello(name)], { ends: false })).toMatchObject({
        kind: "refused",
        problem: `its TLS asks for "${name}"`,
      });
  });

  test.each([
    ["a request", ["GET / HTTP/1.1\r\n"]],
    ["a request after empty lines", ["\r\n\r\n\n", "GET / HTTP/1.0\n"]],
    ["a request in pieces", ["P", "O", "ST /", " HTTP/1.1\r", "\n"]],
    ["a request with an unusual method", ["M-SEARCH * HTTP/1.1\r\n"]],
    ["HTTP 2 without TLS", ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]],
    ["a first line without an end", [`GET /${"a".repeat(70_000)}`]],
  ])("recognizes %s of plain HTTP", async (_, pieces) => {
    expect(await inspect(pieces)).toMatchObject({ kind: "http" });
  });

  test.each([
    ["SSH", ["SSH-2.0-OpenSSH_9\r\n"]],
    ["a mail client", ["EHLO a\r\n"]],
    ["bytes", ["\x00\x00\x00\x08\x04\xd2\x16\x2f"]],
    ["nothing at all", []],
  ])("does not look into %s", async (_, pieces) => {
    expect(await inspect(pieces)).toMatchObject({ kind: "opaque" });
  });
});
