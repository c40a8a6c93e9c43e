import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { signIn, signOut } from "../../../src/extensions/mcp/sign-in.ts";
import { startHttpServer } from "../../support/mcp-http-server.ts";
import { call, createServerStage, type ServerStage } from "../../support/mcp-stage.ts";

const auto = { approvalMode: "auto" } as const;
const ECHO = [call("mcp__web__echo", { text: "hi" }), { text: "Done." }];

/** A server that only answers with a valid token, and its authorization server. */
function startProtected({ issuer }: { issuer?: string } = {}) {
  const state = { valid: "", issued: 0, tokenRequests: [] as string[], headers: [] as Headers[] };
  const authority = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, origin } = new URL(request.url);
      state.headers.push(request.headers);
      if (pathname.startsWith("/.well-known/"))
        return Response.json({
          issuer: issuer ?? origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        });
      if (pathname === "/register") {
        return Response.json({ ...Object(await request.json()), client_id: "client-1" }, { status: 201 });
      }
      if (pathname !== "/token") return new Response(null, { status: 404 });
      const body = await request.text();
      state.tokenRequests.push(body);
      state.valid = `token-${++state.issued}-of-the-user`;
      return Response.json({
        access_token: state.valid,
        token_type: "Bearer",
        refresh_token: `refresh-${state.issued}`,
        expires_in: 3600,
      });
    },
  });
  onTestFinished(() => authority.stop(true));
  const address = `http://127.0.0.1:${authority.port}`;
  const server = startHttpServer("legacy", (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [address] });
    if (pathname.startsWith("/.well-known/")) return new Response(null, { status: 404 });
    if (state.valid !== "" && request.headers.get("Authorization") === `Bearer ${state.valid}`)
      return undefined;
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    const headers = { "WWW-Authenticate": `Bearer resource_metadata="${metadata}"` };
    return new Response(null, { status: 401, headers });
  });
  return { ...server, state };
}

/** Signs in as a user whose browser answers with these parameters. */
async function signInWith(stage: ServerStage, change: (answer: URLSearchParams) => void = () => {}) {
  const harness = await stage.open();
  const place = { loaded: harness.loaded, environment: stage.environment };
  let authorization = new URL("http://nowhere");
  await signIn(place, "web", {
    pasted: new Promise(() => {}),
    onAddress(shown) {
      authorization = new URL(shown);
      const { searchParams } = authorization;
      const answer = new URLSearchParams({ code: "code-1", state: searchParams.get("state") ?? "" });
      change(answer);
      void fetch(`${searchParams.get("redirect_uri")}?${answer}`);
    },
  });
  return { authorization, place };
}

test("a sign-in saves its tokens in a private file, and the next session uses and refreshes them", async () => {
  const server = startProtected();
  const stage = createServerStage({ web: { url: server.url, headers: { "X-Own": "not-for-others" } } });
  expect((await stage.play(ECHO, auto)).results[0]?.output).toContain("diligent mcp login web");
  const { authorization, place } = await signInWith(stage);
  expect(authorization.searchParams.get("code_challenge_method")).toBe("S256");
  expect(authorization.searchParams.get("redirect_uri")).toStartWith("http://127.0.0.1:");
  const path = join(stage.home, ".local/state/diligent/mcp/tokens.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8")).toContain("token-1-of-the-user");
  expect((await stage.play(ECHO, auto)).results[0]?.output).toBe("Echo: hi");
  server.state.valid = "expired";
  expect((await stage.play(ECHO, auto)).results[0]?.output).toBe("Echo: hi");
  expect(server.state.tokenRequests.map((body) => new URLSearchParams(body).get("grant_type"))).toEqual([
    "authorization_code",
    "refresh_token",
  ]);
  expect(server.state.headers.some((headers) => headers.has("X-Own"))).toBe(false);
  expect(await signOut(place, "web")).toBe(true);
  expect((await stage.play(ECHO, auto)).results[0]?.output).toContain("diligent mcp login web");
});

test("two programs whose token has expired refresh it once", async () => {
  const server = startProtected();
  const stage = createServerStage({ web: { url: server.url } });
  await signInWith(stage);
  server.state.valid = "expired";
  const runs = await Promise.all([stage.play(ECHO, auto), stage.play(ECHO, auto)]);
  expect(runs.map(({ results }) => results[0]?.output)).toEqual(["Echo: hi", "Echo: hi"]);
  expect(server.state.tokenRequests).toHaveLength(2);
});

test.each([
  ["another state", (answer: URLSearchParams) => answer.set("state", "x"), /does not belong to this sign-in/],
  [
    "a refusal, whose text is not shown",
    (answer: URLSearchParams) => {
      answer.delete("code");
      answer.set("error_description", "call 555-1234");
    },
    /^The sign-in was refused or cancelled\.$/,
  ],
] as const)("an answer with %s is refused, and nothing is saved", async (_, change, message) => {
  const server = startProtected();
  const stage = createServerStage({ web: { url: server.url } });
  await expect(signInWith(stage, change)).rejects.toThrow(message);
  expect(server.state.tokenRequests).toEqual([]);
});

test("metadata that names another issuer is refused before the user is sent anywhere", async () => {
  const server = startProtected({ issuer: "https://attacker.example" });
  const stage = createServerStage({ web: { url: server.url } });
  await expect(signInWith(stage)).rejects.toThrow();
  expect(server.state.tokenRequests).toEqual([]);
});
