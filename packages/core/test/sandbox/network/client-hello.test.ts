import { describe, expect, test } from "bun:test";
import { readClientHello } from "../../../src/sandbox/network/client-hello.ts";
import { recordClientHello } from "../../support/proxied-network.ts";

/** The same handshake, cut into records of `size` bytes. */
function cut(hello: Buffer, size: number): Buffer {
  const content = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    const part = content.subarray(at, at + size);
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

const hello = await recordClientHello("www.example.com");

describe("readClientHello()", () => {
  test("finds the name that a real client asks for", () => {
    expect(readClientHello(hello)).toEqual({ kind: "client_hello", serverName: "www.example.com" });
  });

  test("finds it in a handshake cut into records of any size", () => {
    for (const size of [1, 7, 100])
      expect(readClientHello(cut(hello, size))).toEqual({
        kind: "client_hello",
        serverName: "www.example.com",
      });
  });

  test("waits for every beginning of it", () => {
    for (let length = 0; length < hello.length; length++)
      expect(readClientHello(hello.subarray(0, length))).toEqual({ kind: "incomplete" });
  });

  test("says nothing of a client that names no server", async () => {
    expect(readClientHello(await recordClientHello(""))).toEqual({ kind: "client_hello" });
  });

  test("leaves other protocols alone", () => {
    for (const text of ["GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\x80\x2e\x01\x03"])
      expect(readClientHello(Buffer.from(text, "latin1"))).toEqual({ kind: "not_tls" });
  });

  test("refuses TLS that it cannot read, whatever byte is changed in its lengths", () => {
    const wrong = Buffer.from(hello);
    // The length of the session id.
    wrong[43] = 255;
    expect(readClientHello(wrong)).toEqual({ kind: "malformed" });
    const empty = Buffer.from([0x16, 3, 1, 0, 0]);
    expect(readClientHello(empty)).toEqual({ kind: "malformed" });
    const other = Buffer.from([0x16, 3, 1, 0, 4, 2, 0, 0, 0]);
    expect(readClientHello(other)).toEqual({ kind: "malformed" });
  });

  test("never throws, whatever follows the first byte", () => {
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(hello);
      for (let change = 0; change < 3; change++)
        bytes[5 + Math.floor((round * 7919 + change * 104_729) % (bytes.length - 5))] =
          (round * 31 + change) & 255;
      expect(["client_hello", "incomplete", "malformed"]).toContain(readClientHello(bytes).kind);
    }
  });
});
