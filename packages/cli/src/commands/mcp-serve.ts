import { statSync } from "node:fs";
import { resolve } from "node:path";
import { APPROVAL_MODES } from "../arguments/command.ts";
import { parseArguments } from "../arguments/parse.ts";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import type { CliIo, CliOutput, SignalName } from "../io/io.ts";
import { readInputLines } from "../line-prompt/input.ts";
import { VERSION } from "../version.ts";

/** The revision without a session, in which each request names it. */
const STATELESS_REVISION = "2026-07-28";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const SERVER_KEY = "io.modelcontextprotocol/serverInfo";

/** The revisions with a session whose messages this server writes, the newest first. */
const REVISIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** Nobody is asked here: without a choice of the client, a run can only read. */
const DEFAULT_APPROVAL = "plan";
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;

const INVALID_REQUEST = -32600;
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;
const PARSE_ERROR = -32700;
const UNKNOWN_REVISION = -32022;

const SERVER_INFO = { name: "diligent", version: VERSION };
/** What this server lists stays the same while it runs. */
const CACHEABLE = { ttlMs: 3_600_000, cacheScope: "private" };

const TOOLS = [
  {
    name: "run",
    description:
      "Give a task to diligent, a coding agent, in a project, and get its answer. It can only read unless approval says otherwise.",
    inputSchema: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "The task." },
        cwd: { type: "string", description: "The project's directory; by default that of this server." },
        approval: {
          type: "string",
          enum: APPROVAL_MODES,
          description:
            "plan, the default, only reads; auto allows everything; the others refuse what would be asked.",
        },
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false },
  },
  {
    name: "sessions_search",
    description: "Find where a text occurs in earlier sessions of this project.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT } },
      required: ["query"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
];

/** Offers diligent's own tools over stdin and stdout, until stdin ends. Runs happen one after the other. */
export async function serveMcp(io: CliIo, cwd: string): Promise<number> {
  const server = new McpServe(io, cwd);
  for await (const line of readInputLines(io.stdin.stream())) if (line.trim() !== "") server.receive(line);
  await server.end();
  return EXIT_SUCCESS;
}

type Id = string | number;
type Fields = Readonly<Record<string, unknown>>;

/** An error of the protocol. */
class RequestError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

/** True for a request of the revision without a session. @throws RequestError for one of an unknown revision. */
function namesRevision({ _meta: meta }: Fields): boolean {
  const requested = toFields(meta)[VERSION_KEY];
  if (requested === undefined || requested === STATELESS_REVISION) return requested !== undefined;
  const data = { supported: [STATELESS_REVISION], requested };
  throw new RequestError(UNKNOWN_REVISION, `There is no revision ${JSON.stringify(requested)} here.`, data);
}

class McpServe {
  /** The calls that were not answered yet, with what stops them. */
  private readonly calls = new Map<Id, AbortController>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly io: CliIo,
    private readonly cwd: string,
  ) {}

  receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.fail(null, new RequestError(PARSE_ERROR, "This line is not JSON."));
      return;
    }
    const { id, method, params } = toFields(message);
    if (typeof method !== "string") {
      // An answer: this server asks nothing.
      if (id !== undefined && ("result" in toFields(message) || "error" in toFields(message))) return;
      this.fail(isId(id) ? id : null, new RequestError(INVALID_REQUEST, "This is not a request."));
      return;
    }
    if (isId(id)) void this.answer(id, method, toFields(params));
    else this.notice(method, toFields(params));
  }

  /** Stops what runs. */
  async end(): Promise<void> {
    for (const call of this.calls.values()) call.abort();
    await this.last;
  }

  private notice(method: string, { requestId }: Fields): void {
    if (method === "notifications/cancelled" && isId(requestId)) this.calls.get(requestId)?.abort();
  }

  private async answer(id: Id, method: string, params: Fields): Promise<void> {
    try {
      const isStateless = namesRevision(params);
      const result = await this.perform(id, method, params);
      // Nobody waits for the answer to a cancelled request.
      if (result) this.send({ id, result: isStateless ? { resultType: "complete", ...result } : result });
    } catch (error) {
      this.fail(id, error);
    }
  }

  private async perform(id: Id, method: string, params: Fields): Promise<object | undefined> {
    switch (method) {
      case "initialize": {
        const { protocolVersion } = params;
        return {
          protocolVersion: REVISIONS.find((each) => each === protocolVersion) ?? REVISIONS[0],
          capabilities: { tools: {} },
          serverInfo: SERVER_INFO,
        };
      }
      case "server/discover":
        return {
          supportedVersions: [STATELESS_REVISION],
          capabilities: { tools: {} },
          ...CACHEABLE,
          _meta: { [SERVER_KEY]: SERVER_INFO },
        };
      case "ping":
        return {};
      case "tools/list":
        return { tools: TOOLS, ...CACHEABLE };
      case "tools/call":
        return this.call(id, params);
      default:
        throw new RequestError(UNKNOWN_METHOD, `There is no method ${method}.`);
    }
  }

  private async call(id: Id, { name, arguments: given }: Fields): Promise<object | undefined> {
    const work = this.prepare(name, toFields(given));
    const stop = new AbortController();
    this.calls.set(id, stop);
    // Ending a run ends every process of this program.
    const perform = this.last.then(() => (stop.signal.aborted ? undefined : work(stop.signal)));
    this.last = perform.catch(() => {});
    try {
      const result = await perform;
      return stop.signal.aborted ? undefined : result;
    } finally {
      this.calls.delete(id);
    }
  }

  /** What a call does once it is its turn. @throws RequestError for a call that no tool takes. */
  private prepare(name: unknown, input: Fields): (stop: AbortSignal) => Promise<object> {
    if (name === "run") {
      const task = readTask(input);
      return (stop) => this.run(task, stop);
    }
    if (name !== "sessions_search") throw invalid(`There is no tool ${JSON.stringify(name)}`);
    const { query, limit = DEFAULT_LIMIT } = input;
    if (typeof query !== "string" || query === "") throw invalid("sessions_search needs a query");
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)
      throw invalid("limit must be a whole number");
    return () => this.search(query, limit);
  }

  private async run({ prompt, cwd, mode }: Task, stop: AbortSignal): Promise<object> {
    const directory = resolve(this.cwd, cwd ?? ".");
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
      return toText(`There is no directory ${directory}.`, { isError: true });
    const command = parseArguments([
      ...["-p", "--output-format", "json", "--approval", mode, "-C", directory, "--", prompt],
    ]);
    if (command.kind !== "run") throw invalid("run needs a prompt");
    const place = new RunPlace(this.io, stop);
    try {
      const { runPrint } = await import("../print/print.ts");
      await runPrint(command, place.io);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return toText(error.message, { isError: true });
    } finally {
      await place.end();
    }
    const summary = toFields(JSON.parse(place.output || "{}"));
    const { message } = toFields(summary.error);
    const isError = summary.stopReason !== "end_turn";
    const text = [
      summary.result,
      isError ? (message ?? `It ended with: ${String(summary.stopReason)}`) : undefined,
    ];
    return {
      ...toText(text.filter((part) => typeof part === "string" && part !== "").join("\n"), { isError }),
      structuredContent: summary,
    };
  }

  private async search(query: string, limit: number): Promise<object> {
    const { findSessions } = await import("./find-sessions.ts");
    const place = new RunPlace(this.io, new AbortController().signal);
    const options = {
      text: query,
      cwd: this.cwd,
      isEverywhere: false,
      areArchivedShown: false,
      isJson: true,
    };
    await findSessions(options, place.io);
    const found: unknown = JSON.parse(place.output);
    const rows = Array.isArray(found) ? found.slice(0, Math.min(limit, MAX_LIMIT)) : [];
    return { ...toText(JSON.stringify(rows, undefined, 2)), structuredContent: { matches: rows } };
  }

  private fail(id: Id | null, error: unknown): void {
    const code = error instanceof RequestError ? error.code : -32603;
    const data = error instanceof RequestError ? error.data : undefined;
    const message = error instanceof Error ? error.message : String(error);
    this.send({ id, error: { code, message, ...(data && { data }) } });
  }

  private send(message: object): void {
    this.io.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

/** What a run sees of the program: an empty input, its own outputs, and a signal when it is to stop. */
class RunPlace {
  output = "";
  private readonly endings: (() => Promise<void> | void)[] = [];

  constructor(
    private readonly outer: CliIo,
    private readonly stop: AbortSignal,
  ) {}

  get io(): CliIo {
    const { outer, stop, endings } = this;
    const nowhere: CliOutput = {
      isTerminal: false,
      write: () => {},
      flush: async () => {},
      closed: new AbortController().signal,
      failure: undefined,
    };
    return {
      ...outer,
      stdin: { isTerminal: false, stream: () => new Blob([]).stream() },
      stdout: {
        ...nowhere,
        write: (text) => {
          this.output += text;
        },
      },
      stderr: nowhere,
      onSignal(listener: (signal: SignalName) => void) {
        const onStop = () => listener("SIGINT");
        stop.addEventListener("abort", onStop, { once: true });
        const forget = outer.onSignal(listener);
        return () => {
          stop.removeEventListener("abort", onStop);
          forget();
        };
      },
      onExit: (cleanUp) => void endings.push(cleanUp),
    };
  }

  async end(): Promise<void> {
    for (const cleanUp of this.endings.splice(0)) await cleanUp();
  }
}

interface Task {
  prompt: string;
  cwd: string | undefined;
  mode: (typeof APPROVAL_MODES)[number];
}

/** @throws RequestError */
function readTask({ prompt, cwd, approval = DEFAULT_APPROVAL, ...others }: Fields): Task {
  if (typeof prompt !== "string" || prompt.trim() === "") throw invalid("run needs a prompt");
  if (cwd !== undefined && typeof cwd !== "string") throw invalid("cwd must be a directory");
  const mode = APPROVAL_MODES.find((each) => each === approval);
  if (mode === undefined) throw invalid(`approval must be one of ${APPROVAL_MODES.join(", ")}`);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`run has no argument ${unknown}`);
  return { prompt, cwd, mode };
}

function toText(text: string, { isError = false } = {}) {
  return { content: [{ type: "text", text }], ...(isError && { isError }) };
}

function invalid(message: string): RequestError {
  return new RequestError(INVALID_PARAMS, message);
}

function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number";
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
