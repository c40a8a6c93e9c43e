import { readFileSync, truncateSync } from "node:fs";
import {
  type AssistantMessage,
  type ContentBlock,
  type DiligentPaths,
  ensureDiligentDir,
  type Model,
  SessionManager,
  type StreamContext,
  type StreamFunction,
} from "@diligent/core";
import { toShellNote } from "@diligent/core/interactive";
import { createProviderStream } from "@diligent/core/providers";
import { createScriptedStream } from "@diligent/core/testing";
import fc from "fast-check";
import { toAnthropicRequest } from "../../../core/src/provider/anthropic/request.ts";
import { toCompatibleRequest } from "../../../core/src/provider/chat-completions/request.ts";
import { toOpenAIRequest } from "../../../core/src/provider/openai/request.ts";
import { findRequestFault } from "../../../core/src/provider/scripted/check-request.ts";
import { noteTool, type TurnScript, user } from "../../../core/test/support/agent-run.ts";
import { checkAnthropicRequest } from "../../../core/test/support/anthropic-wire-check.ts";
import { checkCompatibleRequest } from "../../../core/test/support/compatible-wire-check.ts";
import { checkOpenAIRequest } from "../../../core/test/support/openai-wire-check.ts";

const SHELL_NOTE = toShellNote({ command: "ls", output: "a.txt", exitCode: 0 });
// The header stays, or the file is no longer a session.
const KEPT_BYTES = 300;

const PRUNING = { softTrimChars: 100, softTrimHead: 20, softTrimTail: 20, hardClearAfter: 3, keepLast: 1 };

/** A session on disk, with scripted models, to which steps are applied. */
export class FuzzedSession {
  /** What a service would have refused in the requests so far. */
  readonly refusals: string[] = [];
  private turns: StreamFunction = play();
  private summaries: StreamFunction = play();
  private readonly model: StreamFunction;
  private session: SessionManager;

  private constructor(
    private readonly project: string,
    private readonly paths: DiligentPaths,
    private readonly start: { vendor: VendorName; contextWindow: number },
  ) {
    this.model = withVendorBlocks((model, context, options) => {
      this.refusals.push(...findFaults(context));
      const played = options.purpose === "summary" ? this.summaries : this.turns;
      return played(model, context, options);
    });
    this.session = this.open(start.vendor);
  }

  static async create(project: string, start: { vendor: VendorName; contextWindow: number }) {
    return new FuzzedSession(project, await ensureDiligentDir(project), start);
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "run":
        return await this.run(step);
      case "tell":
        return await this.session.notify(SHELL_NOTE);
      case "crash":
        return await this.reopen(this.start.vendor, step.lostBytes);
      case "resume":
        return await this.reopen(step.to, 0);
      case "switch":
        return this.session.useModel({ model: modelOf(step.to, this.start.contextWindow) });
      case "branch":
        return this.session.branch(this.entryAt(step.at) ?? null);
      case "fork":
        this.session = await this.session.fork(this.entryAt(step.at));
        return;
      case "leave":
        return await this.leave(step);
      case "compact":
        return await this.compact(step);
    }
  }

  /** What a service would refuse if the user continued now, or what the file lacks. */
  findProblems(): string[] {
    const messages = [...this.session.context.messages, user("next")];
    const tools = [{ name: "note", description: "Notes a text.", inputSchema: { type: "object" } }];
    return [...this.refusals, ...findFaults({ systemPrompt: "Test.", messages, tools })];
  }

  /** Whether a reader of the file finds everything that the session has. */
  async findLoss(): Promise<string | undefined> {
    this.session.flush();
    const { sessionId, sessionPath } = this.session;
    if (sessionPath === undefined) return undefined;
    const reader = this.open(this.start.vendor);
    const isThere = await reader.resume({ sessionId });
    if (!isThere) return `${sessionId} cannot be found again`;
    const [held, found] = [this.session, reader].map((each) => each.branches.entries);
    // A field without a value is missing on disk.
    if (Bun.deepEquals(JSON.parse(JSON.stringify(held)), found)) return undefined;
    return `held ${JSON.stringify(held)}\nfound ${JSON.stringify(found)}`;
  }

  private open(vendor: VendorName): SessionManager {
    return new SessionManager({
      cwd: this.project,
      paths: this.paths,
      context: { compaction: { pruning: { ...PRUNING, minimumTokens: 1 } } },
      agentConfig: {
        model: modelOf(vendor, this.start.contextWindow),
        systemPrompt: "Test.",
        tools: [noteTool({ readOnly: true })],
        streamFunction: this.model,
      },
    });
  }

  private async run({ turns, stopAt, steerAt }: Extract<Step, { do: "run" }>): Promise<void> {
    this.turns = play(...turns);
    this.summaries = play();
    const abort = new AbortController();
    let told: Promise<void> | undefined;
    let count = 0;
    await this.session.run(user("prompt"), { signal: abort.signal }).consume(() => {
      if (count === steerAt) {
        this.session.steer("rather this");
        told = this.session.notify(SHELL_NOTE);
      }
      if (count === stopAt) abort.abort();
      count++;
    });
    await told;
  }

  private async reopen(vendor: VendorName, lostBytes: number): Promise<void> {
    const { sessionId, sessionPath } = this.session;
    if (sessionPath === undefined) return;
    if (lostBytes > 0) {
      const { length } = readFileSync(sessionPath);
      truncateSync(sessionPath, Math.max(Math.min(KEPT_BYTES, length), length - lostBytes));
    }
    const next = this.open(vendor);
    if (!(await next.resume({ sessionId }))) this.refusals.push(`${sessionId} cannot be opened again`);
    this.session = next;
  }

  private async leave({ at, summary, stops }: Extract<Step, { do: "leave" }>): Promise<void> {
    this.summaries = play(summary);
    await this.session.branches.leave(this.entryAt(at) ?? null, stops ? stoppedEarly() : {});
  }

  private async compact({ summary, stops }: Extract<Step, { do: "compact" }>): Promise<void> {
    this.summaries = play(summary, summary, summary);
    await this.session.compact(stops ? stoppedEarly() : {});
  }

  private entryAt(at: number): string | undefined {
    const messages = this.session.branches.entries.filter(({ type }) => type === "message");
    return messages[at % Math.max(1, messages.length)]?.id;
  }
}

function play(...turns: TurnScript[]): StreamFunction {
  return createScriptedStream({ version: 1, turns }, { startAtTurn: 0, startAtSummary: 0 });
}

/** A signal that is aborted while the first request is being sent. */
function stoppedEarly(): { signal: AbortSignal } {
  const abort = new AbortController();
  queueMicrotask(() => queueMicrotask(() => abort.abort()));
  return { signal: abort.signal };
}

/** The models that a session switches between, one for each kind of service. */
const IDS = {
  anthropic: "claude-x",
  openai: "gpt-x",
  local: "local/m",
  scripted: "scripted/test.json",
} as const;

/** The provider of a model; `local` is a compatible server. */
type VendorName = keyof typeof IDS;

/** All of them, in a fixed order, because a seed selects by position. */
const VENDOR_NAMES: readonly VendorName[] = ["anthropic", "openai", "local", "scripted"];

/** False for a provider that no session here uses. */
function isVendorName(name: string): name is VendorName {
  return Object.hasOwn(IDS, name);
}

/** @param contextWindow in tokens. */
export function modelOf(provider: VendorName, contextWindow: number): Model {
  const maxOutputTokens = Math.floor(contextWindow / 4);
  const thinking = provider === "scripted" ? "none" : "adaptive";
  return { id: IDS[provider], provider, contextWindow, maxOutputTokens, thinking };
}

/**
 * What any of the services would refuse about a request, whichever of them the session uses at the moment.
 */
export function findRefusals(context: StreamContext): string[] {
  const model = (provider: VendorName) => modelOf(provider, 200_000);
  return [
    ...checkAnthropicRequest(toAnthropicRequest(model("anthropic"), context)),
    ...checkOpenAIRequest(toOpenAIRequest(model("openai"), context)),
    ...checkCompatibleRequest(toCompatibleRequest(model("local"), context)),
  ];
}

/**
 * The same, and what the adapters would have to repair first: nothing, unless the session's file was damaged.
 */
function findFaults(context: StreamContext): string[] {
  const fault = findRequestFault(context);
  return [...findRefusals(context), ...(fault ? [`${fault.path}: ${fault.message}`] : [])];
}

/** One step that is applied to a session. Positions are message numbers; impossible steps are skipped. */
type Step =
  | { do: "run"; turns: readonly TurnScript[]; stopAt: number; steerAt: number }
  | { do: "tell" }
  | { do: "crash"; lostBytes: number }
  | { do: "resume" | "switch"; to: VendorName }
  | { do: "branch" | "fork"; at: number }
  | { do: "leave"; at: number; summary: TurnScript; stops: boolean }
  | { do: "compact"; summary: TurnScript; stops: boolean };

const LONG = "a result that is long enough to be shortened, ".repeat(60);
const GOOD_SUMMARY =
  "## Goal\nFix src/a.ts.\n\n## Progress\n- read it\n\n## Key Decisions\n- none\n\n## Next Steps\n1. continue\n\n## Critical Context\n- `parse` throws at line 12";

const say = fc.constantFrom("Done.", "", " \n", "cut \ud83d off", "grüße 🎉 \u0000");
const noted = fc.constantFrom("a", "", "\ud800", LONG);
const error = fc.constantFrom("auth", "context_overflow", "overloaded", "stream_cut", "invalid_response");

const call = fc.record({
  name: fc.constantFrom("note", "note", "note", "none", "no such tool!"),
  input: fc.oneof(
    noted.map((text): unknown => ({ text })),
    fc.constantFrom<unknown>("no JSON", "", "[1]", '{"text": "a', { text: null }, { other: 1 }),
  ),
});

const words = fc.record(
  { thinking: say, text: say, toolCalls: fc.array(call, { maxLength: 4 }) },
  { requiredKeys: [] },
);

const stops = fc.constantFrom("max_tokens", "refusal", "stop_sequence", "error", "no_such_stop");

const turn: fc.Arbitrary<TurnScript> = fc.oneof(
  { weight: 6, arbitrary: words },
  { weight: 1, arbitrary: fc.tuple(words, stops).map(([said, stopReason]) => ({ ...said, stopReason })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(words, error)
      .map(([said, errorType]) => ({ ...said, error: { errorType, message: "It did not work." } })),
  },
);

const summary: fc.Arbitrary<TurnScript> = fc.oneof(
  fc.constant<TurnScript>({ text: GOOD_SUMMARY }),
  fc.constantFrom<TurnScript>({ text: "ok" }, {}, { text: GOOD_SUMMARY, stopReason: "max_tokens" }),
  fc.constant<TurnScript>({ error: { errorType: "server_error", message: "It did not work." } }),
);

const NEVER = 1000;
const moment = fc.oneof(fc.nat(40), fc.constant(NEVER));
const at = fc.nat(30);
const vendor = fc.constantFrom(...VENDOR_NAMES);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("run" as const),
      turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
      stopAt: moment,
      steerAt: moment,
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "tell" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("crash" as const), lostBytes: fc.nat(900) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("resume" as const, "switch" as const), to: vendor }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("branch" as const, "fork" as const), at }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("leave" as const), at, summary, stops: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("compact" as const), summary, stops: fc.boolean() }) },
);

/** The steps of one session, from its beginning. */
interface History {
  first: VendorName;
  /** Tokens; in a small window, the session is shortened and summarized automatically. */
  contextWindow: number;
  steps: readonly Step[];
}

/** Short sessions in windows from one that is full after a few steps to one that never is. */
export const anyHistory: fc.Arbitrary<History> = fc.record({
  first: vendor,
  contextWindow: fc.constantFrom(2_500, 6_000, 200_000),
  steps: fc.array(step, { minLength: 2, maxLength: 9 }),
});

type Dress = (block: ContentBlock, number: number) => ContentBlock[];

/** Makes a scripted model's answers carry the additional data of the requested model's service. */
function withVendorBlocks(played: StreamFunction): StreamFunction {
  let replies = 0;
  return (model, context, options) => {
    const stream = createProviderStream();
    const dress = DRESSES[isVendorName(model.provider) ? model.provider : "scripted"];
    const number = ++replies;
    void played(model, context, options)
      .consume((event) => {
        if (event.type !== "done") stream.push(event);
        else stream.push({ ...event, message: dressMessage(event.message, dress, number) });
      })
      .catch(() => undefined); // The error was the last event, and it was passed on.
    return stream;
  };
}

function dressMessage(message: AssistantMessage, dress: Dress, number: number): AssistantMessage {
  return { ...message, content: message.content.flatMap((block) => dress(block, number)) };
}

const DRESSES: Record<VendorName, Dress> = {
  scripted: (block) => [block],
  anthropic(block, number) {
    if (block.type === "thinking") {
      const redacted = { provider: "anthropic", data: "redacted" };
      const hidden: ContentBlock = { type: "thinking", thinking: "", replay: redacted };
      return [{ ...block, signature: `signature-${number}` }, ...(number % 3 === 0 ? [hidden] : [])];
    }
    if (block.type !== "text" || number % 4 !== 0) return [block];
    const id = `srvtoolu_${number}`;
    const search = { type: "server_tool_use", id, name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: id, content: [] };
    const raw = number % 8 === 0 ? [search, found] : [search];
    return [...raw.map((each) => ({ type: "opaque" as const, provider: "anthropic", raw: each })), block];
  },
  openai(block, number) {
    const replay = (data: unknown) => ({ replay: { provider: "openai", data } });
    if (block.type === "thinking") {
      const item = { type: "reasoning", id: `rs_${number}`, summary: [], encrypted_content: "gAAA" };
      return [{ ...block, ...replay(number % 5 === 0 ? { id: item.id } : item) }];
    }
    if (block.type === "tool_call") return [{ ...block, ...replay({ id: `fc_${number}_${block.id}` }) }];
    if (block.type !== "text") return [block];
    const message = { id: `msg_${number}`, status: "completed", phase: null };
    return [{ ...block, ...replay({ message, part: { type: "output_text", annotations: [] } }) }];
  },
  local(block) {
    if (block.type !== "thinking") return [block];
    return [{ ...block, replay: { provider: "local", data: { field: "reasoning_content" } } }];
  },
};
