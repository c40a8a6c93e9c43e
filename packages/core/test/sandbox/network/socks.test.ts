import { describe, expect, test } from "bun:test";
import { resolveInTurn, startProxy, startServer, type TestClient } from "../../support/proxied-network.ts";

const GREETING = [5, 1, 0];
const REPLY_REST = [0, 1, 0, 0, 0, 0, 0, 0];
const IPV4_LOOPBACK = [1, 127, 0, 0, 1];
const IPV6_LOOPBACK = [4, ...Array<number>(15).fill(0), 1];

const toPort = (port: number) => [port >> 8, port & 255];
const toName = (name: string) => [3, name.length, ...Buffer.from(name, "latin1")];

async function receive(client: TestClient, count: number): Promise<number[]> {
  await client.until(new RegExp(`^.{${count},}`, "s"));
  return [...client.received];
}

describe("SOCKS 5 through the proxy", () => {
  test("connects to an address and passes bytes on", async () => {
    await using server = await startServer((client) => client.send("hello"));
    await using proxy = await startProxy([`127.0.0.1:${server.port}`]);
    for (const address of [
      IPV4_LOOPBACK,
      toName("127.0.0.1"),
      toName("0x7f.1"),
      [4, ...Buffer.from("00000000000000000000ffff7f000001", "hex")],
    ]) {
      const client = proxy.connect();
      client.send(Buffer.from([...GREETING, 5, 1, 0, ...address, ...toPort(server.port)]));
      await client.until(/hello/);
      expect([...client.received.subarray(0, 12)]).toEqual([5, 0, 5, 0, ...REPLY_REST]);
    }
  });

  test("takes a request byte by byte, after a user name and a password", async () => {
    await using server = await startServer((client) => client.send("hello"));
    await using proxy = await startProxy([`127.0.0.1:${server.port}`]);
    const client = proxy.connect();
    const login = [1, 1, 120, 1, 121];
    const request = [5, 1, 0, ...IPV4_LOOPBACK, ...toPort(server.port)];
    for (const byte of [5, 2, 1, 2, ...login, ...request]) client.send(Buffer.of(byte));
    await client.until(/hello/);
    expect([...client.received.subarray(0, 4)]).toEqual([5, 2, 1, 0]);
  });

  test("resolves names here, so that no client needs a resolver", async () => {
    const resolve = resolveInTurn(["10.0.0.1"]);
    await using proxy = await startProxy(["a.example"], { resolve });
    const client = proxy.connect();
    client.send(Buffer.from([...GREETING, 5, 1, 0, ...toName("a.example"), ...toPort(443)]));
    expect(await receive(client, 12)).toEqual([5, 0, 5, 2, ...REPLY_REST]);
    expect(resolve.asked).toEqual(["a.example"]);
  });

  test.each([
    ["an address that is not named", [5, 1, 0, ...IPV4_LOOPBACK, ...toPort(1)], 2],
    ["IPv6 loopback", [5, 1, 0, ...IPV6_LOOPBACK, ...toPort(443)], 2],
    ["a name with a zero byte", [5, 1, 0, ...toName("a.example\0.b"), ...toPort(443)], 2],
    ["a name that is no text", [5, 1, 0, ...toName("\xff\xfe"), ...toPort(443)], 2],
    ["to listen", [5, 2, 0, ...IPV4_LOOPBACK, ...toPort(1)], 7],
    ["datagrams", [5, 3, 0, ...IPV4_LOOPBACK, ...toPort(1)], 7],
    ["another kind of address", [5, 1, 0, 9, 0, 0], 8],
  ])("refuses %s", async (_, request, reply) => {
    await using proxy = await startProxy(["a.example"]);
    const client = proxy.connect().send(Buffer.from([...GREETING, ...request]));
    expect(await receive(client, 12)).toEqual([5, 0, 5, reply, ...REPLY_REST]);
    expect(await client.end()).toHaveLength(12);
  });

  test("refuses clients that offer no way to begin, and SOCKS 4", async () => {
    await using proxy = await startProxy([]);
    const other = proxy.connect().send(Buffer.from([5, 1, 1]));
    expect([...Buffer.from(await other.end(), "latin1")]).toEqual([5, 255]);
    const old = proxy.connect().send(Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0]));
    old.socket.end();
    await old.end();
    expect(proxy.records).toEqual([]);
  });

  test("reports a host that nobody answers for as unreachable", async () => {
    const closed = await startServer();
    await closed[Symbol.asyncDispose]();
    await using proxy = await startProxy([`127.0.0.1:${closed.port}`]);
    const client = proxy.connect();
    client.send(Buffer.from([...GREETING, 5, 1, 0, ...IPV4_LOOPBACK, ...toPort(closed.port)]));
    expect(await receive(client, 12)).toEqual([5, 0, 5, 4, ...REPLY_REST]);
  });
});
