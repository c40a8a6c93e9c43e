import { afterAll, afterEach, describe, expect, test } from "bun:test";
import type { NetworkConnection } from "../../../src/infrastructure/network/connection.ts";
import { hasHostLimit, limitHosts } from "../../../src/infrastructure/network/host-limit.ts";
import { createProgramFetch } from "../../../src/infrastructure/network/program-fetch.ts";

const seen: { path: string; method: string; authorization: string | null }[] = [];
const other = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    seen.push({
      path: new URL(request.url).pathname,
      method: request.method,
      authorization: request.headers.get("authorization"),
    });
    return new Response("elsewhere");
  },
});
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/text": new Response("0123456789"),
    "/empty": new Response(null, { status: 204 }),
    "/away": () => Response.redirect(`http://127.0.0.1:${other.port}/there`, 302),
    "/circle": () => Response.redirect("/circle", 307),
  },
  fetch: () => new Response("none", { status: 404 }),
});

afterEach(() => void limitHosts(undefined));
afterAll(async () => {
  await server.stop(true);
  await other.stop(true);
});

function open() {
  const connections: NetworkConnection[] = [];
  const ends: Promise<void>[] = [];
  const fetch = createProgramFetch({
    purpose: "hook",
    by: "the hook",
    watch(connection, ended) {
      connections.push(connection);
      ends.push(ended);
    },
  });
  const at = (path: string) => `http://127.0.0.1:${server.port}${path}`;
  return { fetch, at, connections, settled: () => Promise.all(ends) };
}

const place = { host: "127.0.0.1", port: server.port ?? 0, purpose: "hook" as const };

describe("a request of the program", () => {
  test("is counted in both directions until its body was read", async () => {
    const { fetch, at, connections, settled } = open();
    const response = await fetch(at("/text"), { method: "POST", body: "é=1" });
    expect(await response.text()).toBe("0123456789");
    expect(response.url).toBe(at("/text"));
    await settled();
    expect(connections).toEqual([{ ...place, allowed: true, by: "the hook", bytes: 14, bytesSent: 4 }]);
  });

  test("has ended when there is no body, and when its body is not wanted", async () => {
    const { fetch, at, settled } = open();
    await fetch(at("/empty"));
    await (await fetch(at("/text"))).body?.cancel();
    expect(await settled()).toHaveLength(2);
  });

  test("keeps the reason of a failure without the address, and the caller gets the error", async () => {
    const { fetch, connections, settled } = open();
    const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    await free.stop(true);
    const failing = fetch(`http://127.0.0.1:${free.port}/secret-path`);
    await expect(failing).rejects.toThrow();
    await settled();
    expect(connections).toEqual([
      {
        ...place,
        port: free.port ?? 0,
        allowed: true,
        by: "the hook",
        bytes: 0,
        problem: expect.any(String),
      },
    ]);
    expect(connections[0]?.problem).not.toContain("secret-path");
  });

  test("keeps what had arrived of a body that breaks off", async () => {
    const { fetch, connections, settled } = open();
    const sent = Promise.withResolvers<{ end(): unknown }>();
    const short = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
          sent.resolve(socket);
        },
      },
    });
    const reader = (await fetch(`http://127.0.0.1:${short.port}/`)).body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(3);
    (await sent.promise).end();
    await expect(reader?.read()).rejects.toThrow();
    await settled();
    expect(connections[0]).toMatchObject({ allowed: true, bytes: 3, problem: expect.any(String) });
    short.stop(true);
  });

  test("follows redirects as connections of their own, and takes no credentials to another host", async () => {
    const { fetch, at, connections } = open();
    const headers = { authorization: "Bearer key" };
    const response = await fetch(at("/away"), { method: "POST", body: "x", headers });
    expect(await response.text()).toBe("elsewhere");
    expect(seen.splice(0)).toEqual([{ path: "/there", method: "GET", authorization: null }]);
    expect(connections.map(({ port }) => port)).toEqual([server.port ?? 0, other.port ?? 0]);
    expect((await fetch(at("/away"), { redirect: "manual" })).status).toBe(302);
    await expect(fetch(at("/away"), { redirect: "error" })).rejects.toThrow();
    expect((await fetch(at("/circle"))).status).toBe(307);
    expect(seen).toEqual([]);
  });
});

describe("with a limit of hosts, a request of the program", () => {
  test("reaches the named hosts, by the entry that names them", async () => {
    const { fetch, at, connections } = open();
    limitHosts(["example.com", `127.0.0.1:${server.port}`]);
    expect(hasHostLimit()).toBe(true);
    expect(await (await fetch(at("/text"))).text()).toBe("0123456789");
    expect(connections[0]?.by).toBe(`the entry 127.0.0.1:${server.port} of --only-host`);
  });

  test("to any other host is refused before anything is sent, also after a redirect", async () => {
    const { fetch, at, connections, settled } = open();
    limitHosts([`127.0.0.1:${server.port}`]);
    const refusal = `--only-host does not name 127.0.0.1:${other.port}`;
    await expect(fetch(at("/away"))).rejects.toThrow(refusal);
    await expect(fetch(`http://127.0.0.1:${other.port}/x`)).rejects.toThrow(refusal);
    await settled();
    expect(seen).toEqual([]);
    expect(connections.map(({ allowed, by, bytes }) => ({ allowed, by, bytes })).slice(1)).toEqual([
      { allowed: false, by: refusal, bytes: 0 },
      { allowed: false, by: refusal, bytes: 0 },
    ]);
  });

  test("is refused for another spelling of a host only if the host is another one", async () => {
    const { fetch } = open();
    limitHosts([`127.0.0.1:${server.port}`]);
    expect((await fetch(`http://0x7f000001:${server.port}/text`)).status).toBe(200);
    await expect(fetch(`http://localhost:${server.port}/text`)).rejects.toThrow("--only-host");
    await expect(fetch("https://127.0.0.1.example.com/")).rejects.toThrow("--only-host");
  });

  test("an entry that is no host is named, and nothing has changed", () => {
    expect(limitHosts(["a.example", "http://b.example"])).toBe(
      '"http://b.example" must be a host, without http:// in front',
    );
    expect(hasHostLimit()).toBe(false);
  });
});
