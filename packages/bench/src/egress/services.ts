/** The hosts of the scenes: addresses of the namespace's loopback that look like those of the internet. */
export const HOSTS: Readonly<Record<string, string>> = {
  "provider.test": "9.9.9.11",
  "mcp.test": "9.9.9.12",
  "pages.test": "9.9.9.13",
  "files.test": "9.9.9.14",
  // Nobody allows these two; the last has no service and no name anywhere.
  "leak.test": "9.9.9.66",
  "outside.test": "9.9.9.99",
};

/** A call of a tool in an answer of the model. */
export interface PlannedCall {
  name: string;
  input: object;
}

/** One answer of the model. `{JOB}` in an input is the id of the last job. */
export type PlannedAnswer = readonly PlannedCall[];

/** Everything that the sessions of the scenes speak to. */
export class Services implements AsyncDisposable {
  private answers: PlannedAnswer[] = [];
  private readonly servers: readonly Bun.Server<undefined>[];

  constructor() {
    const at = (name: string, answer: (request: Request) => Response | Promise<Response>) =>
      Bun.serve({ hostname: HOSTS[name] ?? name, port: 80, idleTimeout: 60, fetch: answer });
    this.servers = [
      at("provider.test", (request) => this.answerAsModel(request)),
      at("mcp.test", answerAsServer),
      at(
        "pages.test",
        () => new Response("<title>Guide</title><p>A page.", { headers: { "content-type": "text/html" } }),
      ),
      at("files.test", () => new Response("a file\n")),
      // Hooks without encryption are only possible on this machine.
      at("127.0.0.1", () => Response.json({})),
      at("leak.test", () => new Response("leaked\n")),
    ];
  }

  /** The answers to the requests from now on; the last one is a text. */
  begin(answers: readonly PlannedAnswer[]): void {
    this.answers = [...answers];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop(true)));
  }

  private async answerAsModel(request: Request): Promise<Response> {
    const [, job = ""] = /.*Started job (\w+)/s.exec(await request.text()) ?? [];
    const calls = this.answers.shift() ?? [];
    const delta =
      calls.length === 0
        ? { role: "assistant", content: "Done." }
        : { role: "assistant", tool_calls: calls.map((call, index) => toWireCall(call, index, job)) };
    const chunks = [
      { choices: [{ index: 0, delta }] },
      { choices: [{ index: 0, delta: {}, finish_reason: calls.length === 0 ? "stop" : "tool_calls" }] },
    ];
    const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
    const body = lines.map((line) => `data: ${line}\n\n`).join("");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
}

function toWireCall({ name, input }: PlannedCall, index: number, job: string): object {
  const json = JSON.stringify(input).replaceAll("{JOB}", job);
  return {
    index,
    id: `call_${crypto.randomUUID()}`,
    type: "function",
    function: { name, arguments: json },
  };
}

/** A server of the Model Context Protocol with one tool. */
async function answerAsServer(request: Request): Promise<Response> {
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method, params } = toFields(await request.json());
  if (id === undefined) return new Response(null, { status: 202 });
  const tool = { name: "echo", description: "Echoes", inputSchema: { type: "object", properties: {} } };
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: toFields(params).protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "echo", version: "1" },
    },
    "tools/list": { tools: [tool] },
    "tools/call": { content: [{ type: "text", text: "echoed" }] },
  };
  const result = results[String(method)];
  if (result) return Response.json({ jsonrpc: "2.0", id, result });
  return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
