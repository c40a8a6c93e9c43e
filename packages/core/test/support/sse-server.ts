import { createServer, type ServerResponse } from "node:http";
import { checkAnthropicRequest } from "./anthropic-wire-check.ts";
import { checkCompatibleRequest } from "./compatible-wire-check.ts";
import { checkOpenAIRequest } from "./openai-wire-check.ts";

/** What the server does with one request. Without `body`, it answers with an event stream of `events`. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  events?: readonly unknown[];
  body?: string | Uint8Array;
  /** Splits the body into pieces of at most this many bytes, each a write of its own. */
  pieceBytes?: number;
  /** Where else it is split: offsets in bytes, ascending. */
  cuts?: readonly number[];
  /** What happens after the body: a clean end, a reset connection, or nothing at all. */
  ending?: "end" | "reset" | "hang";
  /** A reset waits for this: bytes that the client has not read yet are lost with it. */
  resetAfter?: Promise<unknown>;
  /** Sends no headers either: nothing until the server stops, or a reset where that is the ending. */
  silent?: boolean;
}

export interface ReceivedRequest {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

/** A reply that depends on the request; the server waits for it. */
export type MakeReply = (request: ReceivedRequest) => Reply | Promise<Reply>;

export interface SseServer extends AsyncDisposable {
  url: string;
  requests: ReceivedRequest[];
  /** What the wire check refused, over all requests. */
  problems: string[];
}

/**
 * An HTTP server on loopback that answers each request with the next reply, the last one again and again. It refuses
 * what the real API refuses (Responses or Chat Completions for a path that ends so, else Messages), with the problems
 * in its message.
 */
export async function startSseServer(...replies: (Reply | MakeReply)[]): Promise<SseServer> {
  const requests: ReceivedRequest[] = [];
  const problems: string[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const reply = replies[Math.min(requests.length, replies.length - 1)] ?? {};
      const received = { path: request.url ?? "", headers: request.headers, body };
      requests.push(received);
      const found = checkerFor(request.url)(body);
      problems.push(...found);
      if (found.length > 0) void send(response, errorReply(400, "invalid_request_error", found.join("; ")));
      else void answer(response, reply, received);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const address = http.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    problems,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

async function answer(response: ServerResponse, reply: Reply | MakeReply, request: ReceivedRequest) {
  await send(response, typeof reply === "function" ? await reply(request) : reply);
}

function checkerFor(path = ""): (body: unknown) => string[] {
  if (path.endsWith("/chat/completions")) return checkCompatibleRequest;
  return path.endsWith("/responses") ? checkOpenAIRequest : checkAnthropicRequest;
}

/** An error as the Messages API words it. */
export function errorReply(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  const body = JSON.stringify({ type: "error", error: { type, message }, request_id: "req_test" });
  return { status, headers: { "content-type": "application/json", ...headers }, body };
}

/** The events as the API sends them, one `event` and one `data` line each. */
export function toSse(events: readonly unknown[]): string {
  return events.map((event) => `event: ${typeOf(event)}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function typeOf(event: unknown): string {
  return typeof event === "object" && event !== null && "type" in event ? String(event.type) : "message";
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply.silent && reply.ending === "reset") response.destroy();
  if (reply.silent) return;
  response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers });
  const bytes = Buffer.from(reply.body ?? toSse(reply.events ?? []));
  const step = reply.pieceBytes ?? Math.max(1, bytes.length);
  const steps = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) => index * step);
  const starts = reply.cuts ? [0, ...reply.cuts] : steps;
  for (const [index, start] of starts.entries()) {
    await new Promise((resolve) => response.write(bytes.subarray(start, starts[index + 1]), resolve));
  }
  response.flushHeaders();
  if (reply.ending === "reset") void (reply.resetAfter ?? Bun.sleep(10)).then(() => response.destroy());
  else if (reply.ending !== "hang") response.end();
}
