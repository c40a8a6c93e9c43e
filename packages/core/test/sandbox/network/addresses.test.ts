import { describe, expect, test } from "bun:test";
import { resolveInTurn, startProxy, startServer } from "../../support/proxied-network.ts";

/** Every notation of loopback, and what stands for the address of the metadata service of a cloud. */
const NOTATIONS: readonly string[] = [
  ..."127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 0 0.0.0.0".split(" "),
  ..."[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] [64:ff9b::7f00:1]".split(" "),
  ..."[2002:7f00:1::] [fe80::1] [fc00::1] 169.254.169.254 [::ffff:a9fe:a9fe] [fd00:ec2::254]".split(" "),
  ..."10.0.0.1 192.168.0.1 172.16.0.1 100.64.0.1 224.0.0.1 255.255.255.255 127.0.0.1.".split(" "),
];

const anyHost = async () => ({ isAllowed: true, by: "any host", mayBePrivate: false }) as const;

describe("where any public host is allowed", () => {
  test.each(NOTATIONS.map((host) => [host]))(
    "the address %s is refused by CONNECT and by a request",
    async (host) => {
      await using proxy = await startProxy([], { authorize: anyHost });
      const tunnel = proxy.connect().send(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`);
      const request = proxy.connect().send(`GET http://${host}/ HTTP/1.1\r\n\r\n`);
      expect(await tunnel.end()).toStartWith("HTTP/1.1 403 ");
      expect(await request.end()).toStartWith("HTTP/1.1 403 ");
      expect(proxy.records.map(({ isAllowed }) => isAllowed)).toEqual([false, false]);
    },
  );

  test.each(["localhost", "LOCALHOST.", "a.localhost"])(
    "the name %s is refused without being resolved",
    async (host) => {
      const resolve = resolveInTurn(["1.1.1.1"]);
      await using proxy = await startProxy([], { authorize: anyHost, resolve });
      expect(await proxy.connect().send(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`).end()).toContain(
        "localhost is reached directly, not through the proxy",
      );
      expect(resolve.asked).toEqual([]);
    },
  );

  test.each([
    ["loopback", ["127.0.0.1"]],
    ["IPv6 loopback", ["::1"]],
    ["the metadata service", ["169.254.169.254"]],
    ["a public and a private address", ["1.1.1.1", "10.0.0.1"]],
    ["an IPv4-mapped address", ["::ffff:10.0.0.1"]],
  ])("a name that stands for %s is refused", async (_, addresses) => {
    await using proxy = await startProxy([], { authorize: anyHost, resolve: async () => addresses });
    const client = proxy.connect().send("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    expect(await client.end()).toContain("which is not a public address");
    expect(proxy.records).toEqual([
      {
        host: "a.example",
        port: 443,
        label: "label",
        isAllowed: false,
        by: expect.stringMatching(/^the name a\.example stands for .*, which is not a public address$/),
        bytes: 0,
      },
    ]);
  });
});

describe("a name that means something else a moment later", () => {
  test("is resolved once for each connection, and refused when it has become private", async () => {
    // Neither address is public; the second one would answer.
    const resolve = resolveInTurn(["240.0.0.1"], ["127.0.0.1"]);
    await using server = await startServer();
    await using proxy = await startProxy([`a.example:${server.port}`], { resolve, timeoutMs: 500 });
    for (const round of [1, 2]) {
      const client = proxy.connect().send(`CONNECT a.example:${server.port} HTTP/1.1\r\n\r\n`);
      expect(await client.end()).toStartWith("HTTP/1.1 403 ");
      expect(resolve.asked).toHaveLength(round);
    }
    expect(server.connections).toHaveLength(0);
  });

  test("stays private although the list names it", async () => {
    await using server = await startServer();
    const resolve = async () => ["127.0.0.1"];
    await using proxy = await startProxy([`a.example:${server.port}`], { resolve });
    const client = proxy.connect().send(`CONNECT a.example:${server.port} HTTP/1.1\r\n\r\n`);
    expect(await client.end()).toContain(
      "the name a.example stands for 127.0.0.1, which is not a public address",
    );
    expect(server.connections).toHaveLength(0);
  });
});

test("a literal address that the list names is reached in any notation of it", async () => {
  await using server = await startServer((client) => client.send("hello"));
  await using proxy = await startProxy([`127.0.0.1:${server.port}`]);
  for (const host of ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"]) {
    const client = proxy.connect().send(`CONNECT ${host}:${server.port} HTTP/1.1\r\n\r\n`);
    await client.until(/200 .*hello$/s);
  }
});

test("a name that cannot be resolved is answered with 502 and the reason", async () => {
  const resolve = () => Promise.reject(new Error("ENOTFOUND"));
  await using proxy = await startProxy(["a.example"], { resolve });
  const client = proxy.connect().send("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
  expect(await client.end()).toMatch(/^HTTP\/1\.1 502 .*The name a\.example could not be resolved\.\n$/s);
  expect(proxy.records).toMatchObject([
    { isAllowed: true, problem: "the name a.example could not be resolved" },
  ]);
});

test("a resolver that never answers ends in 502", async () => {
  await using proxy = await startProxy(["a.example"], {
    resolve: () => new Promise(() => {}),
    timeoutMs: 50,
  });
  const client = proxy.connect().send("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
  expect(await client.end()).toStartWith("HTTP/1.1 502 ");
});
