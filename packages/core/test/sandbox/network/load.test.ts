import { describe, expect, test } from "bun:test";
import { startProxy, startServer } from "../../support/proxied-network.ts";

const MEGABYTE = 1024 * 1024;

describe("clients that take long", () => {
  test("one that sends nothing is closed after the limit, and reports no connection", async () => {
    await using proxy = await startProxy([], { limits: { requestMs: 30 } });
    const silent = proxy.connect();
    const unfinished = proxy.connect().send("GET http://a.example/ HTTP/1.1\r\n");
    await Promise.all([silent.end(), unfinished.end()]);
    expect(proxy.records).toEqual([]);
  });

  test("a tunnel without a byte is closed after the limit", async () => {
    await using server = await startServer();
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host], { limits: { idleMs: 50 } });
    const client = proxy.connect().send(`CONNECT ${host} HTTP/1.1\r\n\r\n`);
    await client.end();
    expect(await proxy.reported(1)).toMatchObject([{ isAllowed: true, bytes: 0 }]);
    await (await server.connection(0)).end();
  });

  test("a tunnel of which one side has ended is closed earlier", async () => {
    await using server = await startServer((client) => client.socket.end("bye"));
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host], { limits: { halfOpenMs: 50 } });
    const client = proxy.connect().send(`CONNECT ${host} HTTP/1.1\r\n\r\n\x01`);
    await client.until(/bye$/);
    // The client never ends its own side.
    expect(await proxy.reported(1)).toMatchObject([{ isAllowed: true }]);
  });

  test("a server that never answers is left at the limit", async () => {
    await using server = await startServer();
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host], { limits: { idleMs: 50 } });
    const client = proxy.connect().send(`GET http://${host}/ HTTP/1.1\r\n\r\n`);
    await client.end();
    expect(await proxy.reported(1)).toMatchObject([{ isAllowed: true }]);
  });

  test("a client that does not read slows the server down, and costs no memory", async () => {
    let written = 0;
    const chunk = Buffer.alloc(MEGABYTE);
    await using server = await startServer((client) => {
      const write = () => {
        while (written < 200 * MEGABYTE) {
          written += chunk.length;
          if (!client.socket.write(chunk)) return;
        }
      };
      client.socket.on("drain", write);
      write();
    });
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host], { limits: { idleMs: 300 } });
    const client = proxy.connect();
    client.socket.pause();
    client.send(`CONNECT ${host} HTTP/1.1\r\n\r\n\x01`);
    // Ended by the limit: nothing moves any more.
    await proxy.reported(1);
    expect(proxy.records[0]?.bytes).toBeLessThan(20 * MEGABYTE);
    expect(written).toBeLessThan(40 * MEGABYTE);
  });
});

describe("many clients", () => {
  test("beyond the limit wait for their turn", async () => {
    await using server = await startServer();
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host], {
      limits: { maxConnections: 2, maxWaiting: 2, halfOpenMs: 20 },
    });
    const open = () => proxy.connect().send(`CONNECT ${host} HTTP/1.1\r\n\r\n`);
    const [first, second, third, fourth] = [open(), open(), open(), open()];
    await Promise.all([first.until(/200/), second.until(/200/)]);
    // There is no room to wait for one more.
    await open().end();
    expect(third.text + fourth.text).toBe("");
    first.socket.destroy();
    await third.until(/200/);
    // One that left while it waited takes no place.
    fourth.socket.destroy();
    const fifth = open();
    second.socket.destroy();
    await fifth.until(/200/);
  });

  test("of three thousand, each is answered, and the next one is served", async () => {
    await using server = await startServer((client) => client.send("hello"));
    const host = `127.0.0.1:${server.port}`;
    await using proxy = await startProxy([host]);
    let answered = 0;
    for (let round = 0; round < 6; round++) {
      const clients = Array.from({ length: 500 }, () => {
        const client = proxy.connect().send("CONNECT b.example:443 HTTP/1.1\r\n\r\n");
        client.socket.on("end", () => client.socket.destroy());
        return client;
      });
      const answers = await Promise.all(clients.map((client) => client.end()));
      answered += answers.filter((answer) => answer.startsWith("HTTP/1.1 403 ")).length;
    }
    expect(answered).toBe(3_000);
    expect(proxy.records).toHaveLength(3_000);
    await proxy.connect().send(`CONNECT ${host} HTTP/1.1\r\n\r\n`).until(/hello/);
  });
});
