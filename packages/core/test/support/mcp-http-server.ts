import { onTestFinished } from "bun:test";

/** What a test server answers to one request; undefined for the next rule. */
type Rule = (request: Request, body: Record<string, unknown>) => Response | undefined;

/** An HTTP server that speaks the protocol by hand, and the requests that it got. */
export interface HttpServer {
  url: string;
  requests: { method: string; path: string; headers: Headers; body: Record<string, unknown> }[];
}

const TOOLS = [
  {
    name: "echo",
    description: "Echoes its text",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
];

const json = (value: object, init?: ResponseInit) => Response.json(value, init);

/**
 * Starts a server of one era: `legacy` has sessions, `modern` has none and knows `server/discover`, `sse` has the two
 * endpoints of the first revision. Rules come first.
 */
export function startHttpServer(era: "legacy" | "modern" | "sse", ...rules: Rule[]): HttpServer {
  const requests: HttpServer["requests"] = [];
  let push: (text: string) => void = () => {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const text = await request.text();
      const body = text.startsWith("{") ? JSON.parse(text) : {};
      const path = new URL(request.url).pathname;
      requests.push({ method: request.method, path, headers: request.headers, body });
      for (const rule of rules) {
        const response = rule(request, body);
        if (response) return response;
      }
      if (era === "sse") return answerSse(request, body);
      if (request.method !== "POST") return new Response(null, { status: 405 });
      return era === "modern" ? answerModern(body) : answerLegacy(request, body);
    },
  });
  onTestFinished(() => server.stop(true));

  function answerSse(request: Request, body: Record<string, unknown>): Response {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/mcp") return new Response("no", { status: 404 });
    if (request.method === "GET") {
      const stream = new ReadableStream<string>({
        start(controller) {
          push = (text) => controller.enqueue(text);
          push("event: endpoint\ndata: /messages\n\n");
        },
      });
      return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
    }
    const result = resultOf(body);
    if (result) push(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: body.id, result })}\n\n`);
    return new Response(null, { status: 202 });
  }

  return { url: `http://127.0.0.1:${server.port}/mcp`, requests };
}

function resultOf({ method, params }: Record<string, unknown>): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "http", version: "1" },
      };
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call": {
      const { arguments: input } = Object(params);
      return { content: [{ type: "text", text: `Echo: ${Object(input).text}` }] };
    }
    default:
      return undefined;
  }
}

function answerLegacy(request: Request, body: Record<string, unknown>): Response {
  if (body.method === "server/discover")
    return json(
      { jsonrpc: "2.0", id: body.id, error: { code: -32601, message: "unknown" } },
      { status: 400 },
    );
  if (body.id === undefined) return new Response(null, { status: 202 });
  const result = resultOf(body);
  const headers = body.method === "initialize" ? { "Mcp-Session-Id": "session-1" } : undefined;
  if (body.method !== "initialize" && request.headers.get("Mcp-Session-Id") !== "session-1")
    return new Response("no session", { status: 400 });
  return json({ jsonrpc: "2.0", id: body.id, result: result ?? {} }, headers && { headers });
}

function answerModern(body: Record<string, unknown>): Response {
  const reply = (result: object) =>
    json({ jsonrpc: "2.0", id: body.id, result: { resultType: "complete", ...result } });
  if (body.method === "initialize") return new Response("too old", { status: 400 });
  if (body.method === "server/discover")
    return reply({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      serverInfo: { name: "http", version: "1" },
      ttlMs: 0,
      cacheScope: "private",
    });
  if (body.method === "tools/list") return reply({ tools: TOOLS, ttlMs: 0, cacheScope: "private" });
  return reply(resultOf(body) ?? {});
}
