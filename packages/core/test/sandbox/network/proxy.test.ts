import { describe, expect, test } from "bun:test";
import {
  recordClientHello,
  resolveInTurn,
  startProxy,
  startServer,
  type TestClient,
} from "../../support/proxied-network.ts";

/** Answers every request with its own head and body. */
const echo = (client: TestClient) => {
  void client.until(/\r\n\r\n/).then(() => {
    client.send(
      `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\n\r\nok`,
    );
    client.socket.end();
  });
};

const requestTo = (host: string, { path = "/", headers = "" } = {}) =>
  `GET http://${host}${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`;

describe("plain HTTP through the proxy", () => {
  test("is forwarded to the host of the address, with a Host header that says so", async () => {
    await using server = await startServer(echo);
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = proxy.connect();
    client.send(
      `GET http://${host}/a?b=c HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic eDp5\r\nX-One: 1\r\nX-Two: 2\r\nConnection: x-one\r\nProxy-Connection: keep-alive\r\nUpgrade: h2c\r\n\r\n`,
    );
    expect(await client.end()).toBe("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    expect((await server.connection(0)).text).toBe(
      `GET /a?b=c HTTP/1.1\r\nHost: ${host}\r\nX-Two: 2\r\nConnection: close\r\n\r\n`,
    );
    expect(await proxy.reported(1)).toEqual([
      {
        host: "127.0.0.1",
        port: server.port,
        label: "label",
        isAllowed: true,
        by: host,
        bytes: expect.any(Number),
      },
    ]);
  });

  test("is refused with 403 and the reason when the list does not name the host", async () => {
    await using server = await startServer(echo);
    await using proxy = await startProxy(["other.example"]);
    const client = proxy.connect().send(requestTo(`127.0.0.1:${server.port}`));
    expect(await client.end()).toContain(
      `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n`,
    );
    expect(client.text).toEndWith(
      `diligent refused the connection to 127.0.0.1:${server.port}: it is not in the list.\n`,
    );
    expect(server.connections).toHaveLength(0);
    expect(proxy.records).toEqual([
      {
        host: "127.0.0.1",
        port: server.port,
        label: "label",
        isAllowed: false,
        by: "it is not in the list",
        bytes: 0,
      },
    ]);
  });

  test("sends exactly the body that was announced, and nothing that follows it", async () => {
    await using server = await startServer((client) => {
      void client.until(/12345$/).then(() => client.socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = proxy.connect();
    client.send(
      `POST http://${host}/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345GET /hidden HTTP/1.1\r\nHost: evil\r\n\r\n`,
    );
    expect(await client.end()).toBe("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    expect((await server.connection(0)).text).toEndWith("Connection: close\r\n\r\n12345");
  });

  test("sends a body in chunks, without what is hidden in their extensions and trailers", async () => {
    await using server = await startServer((client) => {
      void client.until(/0\r\n\r\n$/).then(() => client.socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = proxy.connect();
    client.send(
      `POST http://${host}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nHost: evil\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
    );
    expect(await client.end()).toStartWith("HTTP/1.1 204");
    expect((await server.connection(0)).text).toEndWith("\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n");
  });

  test.each([
    ["two lengths", "POST http://H/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"],
    [
      "a length and chunks",
      "POST http://H/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ["another encoding", "POST http://H/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"],
    ["a length with a sign", "POST http://H/ HTTP/1.1\r\nContent-Length: +5\r\n\r\n"],
    ["a folded header", "GET http://H/ HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n"],
    ["a space before the colon", "GET http://H/ HTTP/1.1\r\nContent-Length : 5\r\n\r\n"],
    ["a lone line feed", "GET http://H/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n"],
    ["a zero byte", "GET http://H/ HTTP/1.1\r\nA: \0\r\n\r\n"],
    ["a user name in the address", "GET http://H@127.0.0.1/ HTTP/1.1\r\n\r\n"],
    ["a backslash in the address", "GET http://H\\@127.0.0.1/ HTTP/1.1\r\n\r\n"],
    ["only a path", "GET / HTTP/1.1\r\nHost: H\r\n\r\n"],
    ["another scheme", "GET https://H/ HTTP/1.1\r\n\r\n"],
    ["another version", "GET http://H/ HTTP/2.0\r\n\r\n"],
    ["CONNECT without a port", "CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n"],
  ])("refuses a request with %s", async (_, request) => {
    await using server = await startServer(echo);
    await using proxy = await startProxy([`127.0.0.1:${server.port}`]);
    const client = proxy.connect().send(request.replace("H", `127.0.0.1:${server.port}`));
    expect(await client.end()).toStartWith("HTTP/1.1 400 Bad Request\r\n");
    expect(server.connections).toHaveLength(0);
  });

  test("refuses a head that never ends", async () => {
    await using proxy = await startProxy([]);
    const client = proxy.connect().send(`GET http://a.example/ HTTP/1.1\r\nA: ${"b".repeat(70_000)}`);
    expect(await client.end()).toStartWith("HTTP/1.1 400 ");
  });

  test.each([
    ["says something else than HTTP", "SSH-2.0-x\r\n\r\n", "The server gave no valid answer."],
    ["switches the protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "The server gave no valid answer."],
    ["says nothing", "", "The server gave no valid answer."],
  ])("answers 502 when the server %s", async (_, answer, text) => {
    await using server = await startServer((client) => {
      void client.until(/\r\n\r\n/).then(() => client.socket.end(answer));
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = proxy.connect().send(requestTo(host));
    expect(await client.end()).toStartWith("HTTP/1.1 502 Bad Gateway\r\n");
    expect(client.text).toEndWith(`${text}\n`);
  });

  test("passes an interim answer on before the final one", async () => {
    await using server = await startServer((client) => {
      void client.until(/\r\n\r\n/).then(() => client.send("HTTP/1.1 100 Continue\r\n\r\n"));
      void client.until(/body$/).then(() => client.socket.end("HTTP/1.1 200 OK\r\n\r\ndone"));
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = proxy.connect();
    client.send(`PUT http://${host}/ HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`);
    await client.until(/100 Continue/);
    client.send("body");
    expect(await client.end()).toBe(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndone",
    );
  });
});

/** Opens a tunnel. */
async function openTunnel(client: TestClient, target: string): Promise<TestClient> {
  client.send(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const established = "HTTP/1.1 200 Connection established\r\n\r\n";
  expect(await client.until(/\r\n\r\n/)).toStartWith(established);
  // A server that speaks first may have done so already.
  client.received = client.received.subarray(established.length);
  return client;
}

describe("a tunnel through the proxy", () => {
  test("passes bytes on in both directions, and each end on its own", async () => {
    await using server = await startServer((client) => {
      // Answers only when the other side has ended: a proxy that closes both would lose the answer.
      client.socket.on("end", () => client.socket.end(`got ${client.text}`));
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = await openTunnel(proxy.connect(), host);
    client.send("\x01\x02hello").socket.end();
    expect(await client.end()).toBe("got \x01\x02hello");
    expect((await proxy.reported(1))[0]).toMatchObject({ isAllowed: true, bytes: 7 + 11 });
  });

  test("passes on what a server says first", async () => {
    await using server = await startServer((client) => {
      client.send("220 ready\r\n");
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = await openTunnel(proxy.connect(), host);
    await client.until(/220 ready/);
    client.send("HELO\r\n");
    await (await server.connection(0)).until(/HELO\r\n/);
  });

  test("rewrites the Host header of plain HTTP in it, and lets no second request follow", async () => {
    await using server = await startServer(echo);
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = await openTunnel(proxy.connect(), host);
    for (const part of ["\r\n", "G", "ET ", "/a HTT", "P/1.1\r\nHost: evil.example\r\n\r\n"])
      client.send(part);
    client.send("GET /b HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    await client.end();
    expect((await server.connection(0)).text).toBe(
      `GET /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
  });

  test.each([["127.0.0.1:25"], ["mail.example:25"], ["a.example:22"], ["a.example:0"], ["a.example:99999"]])(
    "to %s is refused when the list names the host without a port",
    async (target) => {
      const resolve = resolveInTurn(["192.0.2.1"]);
      await using proxy = await startProxy(["127.0.0.1", "mail.example", "a.example"], { resolve });
      const client = proxy.connect().send(`CONNECT ${target} HTTP/1.1\r\n\r\n`);
      expect(await client.end()).toMatch(/^HTTP\/1\.1 40[03] /);
      expect(resolve.asked).toEqual([]);
    },
  );
});

describe("a tunnel with TLS in it", () => {
  test("that names no other host is passed on as it is", async () => {
    await using server = await startServer();
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    // A client does not name a server of which it knows only the address.
    const hello = await recordClientHello("");
    const client = await openTunnel(proxy.connect(), host);
    for (let at = 0; at < hello.length; at += 50) client.send(hello.subarray(at, at + 50));
    const connection = await server.connection(0);
    while (connection.received.length < hello.length)
      await connection.until(new RegExp(`[^]{${connection.received.length + 1}}`));
    expect(connection.received).toEqual(hello);
  });

  test("for another name is closed, whatever the size of its pieces, and no byte of it arrives", async () => {
    await using server = await startServer();
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const hello = await recordClientHello("evil.example");
    for (const size of [1, hello.length]) {
      const client = await openTunnel(proxy.connect(), host);
      for (let at = 0; at < hello.length; at += size) client.send(hello.subarray(at, at + size));
      expect(await client.end()).toBe("");
    }
    await proxy.reported(2);
    expect(proxy.records.map(({ isAllowed, by }) => [isAllowed, by])).toEqual([
      [false, 'its TLS asks for "evil.example"'],
      [false, 'its TLS asks for "evil.example"'],
    ]);
    expect(server.connections.map(({ received }) => received.length)).toEqual([0, 0]);
  });

  test("ends when the client sends only the beginning of it", async () => {
    await using server = await startServer();
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    const client = await openTunnel(proxy.connect(), host);
    client.send((await recordClientHello("evil.example")).subarray(0, 60)).socket.end();
    expect(await client.end()).toBe("");
    expect((await proxy.reported(1))[0]).toMatchObject({ isAllowed: false });
    expect((await server.connection(0)).received).toHaveLength(0);
  });
});
