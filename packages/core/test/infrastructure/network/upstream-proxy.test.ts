import { describe, expect, test } from "bun:test";
import { findUpstreamProxy } from "../../../src/infrastructure/network/upstream-proxy.ts";
import { startProxy, startServer } from "../../support/proxied-network.ts";

describe("findUpstreamProxy()", () => {
  const find = (environment: Record<string, string>, host = "a.example", port = 443) =>
    findUpstreamProxy(environment, { host, port }, { isPlainHttp: port === 80 })?.host;

  test("takes the variable of the scheme, in lower case first", () => {
    const environment = {
      HTTP_PROXY: "http://plain:1",
      HTTPS_PROXY: "http://upper:1",
      https_proxy: "lower:1",
    };
    expect(find(environment)).toBe("lower");
    expect(find(environment, "a.example", 80)).toBe("plain");
  });

  test.each([
    ["*", true],
    ["a.example", true],
    [".example", true],
    ["*.example", true],
    ["b.example, a.example", true],
    ["a.example:443", true],
    ["a.example:8443", false],
    ["b.example", false],
    ["ample", false],
    ["", false],
  ])("is direct for NO_PROXY=%j: %p", (list, isDirect) => {
    expect(find({ HTTPS_PROXY: "http://p:1", NO_PROXY: list }) === undefined).toBe(isDirect);
  });

  test("refuses an address that is not that of an HTTP proxy", () => {
    expect(() => find({ HTTPS_PROXY: "socks5://p:1" })).toThrow(
      "HTTPS_PROXY is not the address of an HTTP proxy",
    );
  });
});

describe("with a proxy of the user, the network's proxy", () => {
  test("opens tunnels through it by name, with its user and password", async () => {
    await using upstream = await startServer((client) => {
      void client.until(/\r\n\r\n$/).then(() => client.send("HTTP/1.1 200 OK\r\n\r\nhello"));
    });
    const environment = { HTTPS_PROXY: `http://me:pass%20word@127.0.0.1:${upstream.port}` };
    await using proxy = await startProxy(["a.example"], { environment });
    await proxy.connect().send("CONNECT a.example:443 HTTP/1.1\r\n\r\n").until(/hello/);
    expect((await upstream.connection(0)).text).toBe(
      `CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nProxy-Authorization: Basic ${btoa("me:pass word")}\r\n\r\n`,
    );
  });

  test("sends it requests of plain HTTP with the whole address", async () => {
    await using upstream = await startServer((client) => {
      void client.until(/\r\n\r\n$/).then(() => client.socket.end("HTTP/1.1 200 OK\r\n\r\nhello"));
    });
    const environment = { HTTP_PROXY: `http://127.0.0.1:${upstream.port}` };
    await using proxy = await startProxy(["a.example"], { environment });
    await proxy.connect().send("GET http://a.example/b HTTP/1.1\r\nHost: evil\r\n\r\n").until(/hello/);
    expect((await upstream.connection(0)).text).toBe(
      "GET http://a.example/b HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n",
    );
  });

  test("still refuses hosts that are not allowed, and names that stand for a private address", async () => {
    await using upstream = await startServer();
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${upstream.port}` };
    const resolve = async () => ["10.0.0.1"];
    await using proxy = await startProxy(["a.example"], { environment, resolve });
    for (const host of ["a.example", "b.example", "10.0.0.1"])
      expect(await proxy.connect().send(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`).end()).toStartWith(
        "HTTP/1.1 403 ",
      );
    expect(upstream.connections).toHaveLength(0);
  });

  test.each([
    ["refuses", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "it answered with 407"],
    ["is no proxy", "220 mail\r\n", "it did not answer"],
  ])("answers 502 when that %s", async (_, answer, reason) => {
    await using upstream = await startServer((client) => client.socket.end(answer));
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${upstream.port}` };
    await using proxy = await startProxy(["a.example"], { environment });
    const client = proxy.connect().send("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    expect(await client.end()).toContain(`opened no connection: ${reason}.`);
  });
});
