import { expect, test } from "bun:test";
import { startHttpServer } from "../../support/mcp-http-server.ts";
import { call, createServerStage } from "../../support/mcp-stage.ts";

const auto = { approvalMode: "auto" } as const;
const ECHO = [call("mcp__web__echo", { text: "hi" }), { text: "Done." }];

test.each(["legacy", "modern", "sse"] as const)(
  "a server over HTTP of the era %s is found and called",
  async (era) => {
    const server = startHttpServer(era);
    const stage = createServerStage({
      web: { url: server.url, headers: { Authorization: "Bearer {env:WEB_TOKEN}" } },
    });
    Object.assign(stage.environment, { WEB_TOKEN: "value-of-the-token" });
    const { results } = await stage.play(ECHO, auto);
    expect(results.map(({ output }) => output)).toEqual(["Echo: hi"]);
    const called = server.requests.find(({ body }) => body.method === "tools/call");
    expect(called?.headers.get("Authorization")).toBe("Bearer value-of-the-token");
    if (era === "modern") expect(called?.headers.get("Mcp-Session-Id")).toBeNull();
    if (era === "legacy") expect(called?.headers.get("Mcp-Session-Id")).toBe("session-1");
  },
);

test("a redirect to another host is refused, and no header reaches that host", async () => {
  const thief = startHttpServer("legacy");
  const elsewhere = thief.url.replace("127.0.0.1", "localhost");
  const server = startHttpServer("legacy", () => Response.redirect(elsewhere, 307));
  const stage = createServerStage({
    web: { url: server.url, headers: { Authorization: "Bearer value-of-the-token" } },
  });
  const { results } = await stage.play(ECHO, auto);
  expect(results[0]?.isError).toBe(true);
  expect(server.requests.length).toBeGreaterThan(0);
  expect(thief.requests).toEqual([]);
});

test("a token in the address is masked in results, events and notices", async () => {
  const server = startHttpServer(
    "legacy",
    (request) => new Response(`failed for ${request.url}`, { status: 500 }),
  );
  const stage = createServerStage({ web: { url: `${server.url}?api_key=k3y-in-the-address` } });
  const { results, events, notices } = await stage.play(ECHO, auto);
  expect(results[0]?.isError).toBe(true);
  expect(server.requests.length).toBeGreaterThan(0);
  expect(JSON.stringify([results, events, notices])).not.toContain("k3y-in-the-address");
});

test("a server that wants a sign-in says how, and one that is not there says so", async () => {
  const server = startHttpServer("legacy", () => new Response("who are you?", { status: 401 }));
  const stage = createServerStage({ web: { url: server.url }, gone: { url: "http://127.0.0.1:9/mcp" } });
  const { results } = await stage.play(
    [...ECHO.slice(0, 1), call("mcp__gone__x", {}), { text: "Done." }],
    auto,
  );
  expect(results[0]?.output).toContain("diligent mcp login web");
  expect(results[1]?.output).toContain("Nothing answers at its address.");
});

test("a call whose session is gone is not repeated, and the next one starts another session", async () => {
  let isGone = false;
  const server = startHttpServer("legacy", (_, { method }) => {
    if (!isGone || method !== "tools/call") return undefined;
    isGone = false;
    return new Response("unknown session", { status: 404 });
  });
  const stage = createServerStage({ web: { url: server.url } });
  isGone = true;
  const { results } = await stage.play([...ECHO.slice(0, 1), ...ECHO], auto);
  expect(results.map(({ isError }) => isError)).toEqual([true, false]);
  expect(server.requests.filter(({ body }) => body.method === "tools/call")).toHaveLength(2);
  expect(server.requests.filter(({ body }) => body.method === "initialize")).toHaveLength(2);
});
