import { OUTCOME_UNKNOWN } from "../../../history.ts";
import { inspectImage } from "../../../infrastructure/text/images.ts";
import {
  type AssistantMessage,
  type ContentBlock,
  EMPTY_USAGE,
  type StopReason,
  type ToolCallBlock,
  type ToolResultMessage,
  toolCallsOf,
  type Usage,
} from "../../../types.ts";
import { boundedCopy, objectOf, parseRecord } from "./json-value.ts";
import type { ForeignAgent, ForeignItem, ReadLimits } from "./types.ts";

type Keyed<T> = T & { key?: string | undefined };

/** A reply; its stop reason follows from its calls unless it is given. */
interface Reply {
  blocks: ContentBlock[];
  model: string;
  usage?: Usage | undefined;
  stopReason?: StopReason | undefined;
}

/** The outcome of a call. */
interface CallResult {
  toolCallId: string;
  toolName?: string | undefined;
  blocks: ContentBlock[];
  isError: boolean;
  exitCode?: number | undefined;
  /** The call was stopped. */
  isInterrupted?: boolean | undefined;
}

const SHORT = 2_048;
// The providers' common limits for one image.
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_IMAGE_PIXELS = 8_000;

/**
 * Collects the items of one session of another agent, within limits, and puts the results of calls in order: each
 * directly after its reply. Calls without a result get one that says so; results without a call are counted.
 */
export class ForeignTranscript {
  readonly skipped: Record<string, number> = {};
  private readonly items: ForeignItem[] = [];
  private total = 0;
  private lastModel = "";

  constructor(
    readonly agent: ForeignAgent,
    private readonly limits: ReadLimits,
  ) {}

  skip(kind: string): void {
    // A hostile file may have any number of kinds, and long ones.
    const name = /^[\w./-]{1,60}$/.test(kind) ? kind : "unknown";
    const isNew = !Object.hasOwn(this.skipped, name);
    const counted = isNew && Object.keys(this.skipped).length >= 200 ? "unknown" : name;
    this.skipped[counted] = (Object.hasOwn(this.skipped, counted) ? (this.skipped[counted] ?? 0) : 0) + 1;
  }

  /** A text block within the limits. */
  text(text: string): ContentBlock {
    return { type: "text", text: this.cut(text, this.limits.maxText) };
  }

  /** Thinking is shown and never sent: its signature, kept beside it, belongs to the other agent's account. */
  thinking(text: string, signature?: unknown): ContentBlock {
    const thinking = this.cut(text, this.limits.maxText);
    if (signature === undefined || signature === "") return { type: "thinking", thinking };
    return { type: "thinking", thinking, replay: { provider: this.agent, data: { signature } } };
  }

  /** A block that only the other agent's provider understands: kept, never sent. */
  opaque(raw: unknown): ContentBlock {
    return { type: "opaque", provider: this.agent, raw: this.bounded(raw) };
  }

  /** A call; arguments may be an object, or the text of one. */
  call(id: string, name: string, given: unknown): ToolCallBlock {
    const parsed = typeof given === "string" ? parseRecord(given) : objectOf(given);
    const input = objectOf(this.bounded(parsed ?? {})) ?? {};
    const block: ToolCallBlock = { type: "tool_call", id, name: name === "" ? "unknown" : name, input };
    if (parsed || given === undefined || given === null || given === "") return block;
    const invalidInput = typeof given === "string" ? given : "(not an object)";
    return { ...block, invalidInput: this.cut(invalidInput, this.limits.maxText) };
  }

  /** An image from base64, or a text in its place if it is not one that providers accept. */
  image(data: unknown): ContentBlock {
    if (!this.limits.withImages) return { type: "text", text: "[image]" };
    const leaveOut = (why: string): ContentBlock => {
      this.skip("image");
      return { type: "text", text: `[An image was left out: ${why}.]` };
    };
    if (typeof data !== "string") return leaveOut("it is not in the session");
    if (data.length > (MAX_IMAGE_BYTES / 3) * 4 + 4) return leaveOut("it is larger than 5 MB");
    const bytes = Buffer.from(data, "base64");
    const header = inspectImage(bytes);
    if (!header) return leaveOut("it is not a complete PNG, JPEG, GIF or WebP file");
    if (Math.max(header.width, header.height) > MAX_IMAGE_PIXELS) return leaveOut("it is too large");
    if (this.total + data.length > this.limits.maxTotal) return leaveOut("the session is too large");
    this.total += data.length;
    // Written again, so that white space and invalid characters are gone.
    const source = { type: "base64", mediaType: header.mediaType, data: bytes.toString("base64") } as const;
    return { type: "image", source };
  }

  /** An image from a `data:` address; other addresses are not followed. */
  imageAt(url: unknown): ContentBlock {
    const match = typeof url === "string" ? /^data:[^,]{0,200};base64,/i.exec(url) : null;
    return this.image(match && typeof url === "string" ? url.slice(match[0].length) : undefined);
  }

  user(at: number, blocks: ContentBlock[], { key }: Keyed<object> = {}): void {
    if (blocks.length === 0) return;
    const [only] = blocks;
    const content = blocks.length === 1 && only?.type === "text" ? only.text : blocks;
    this.items.push({ kind: "message", at, key, message: { role: "user", content, timestamp: at } });
  }

  /** @returns the message, whose usage may be set later. */
  reply(at: number, { blocks, model, usage, stopReason, key }: Keyed<Reply>): AssistantMessage {
    const calls = blocks.some(({ type }) => type === "tool_call");
    const message: AssistantMessage = {
      role: "assistant",
      content: blocks,
      model: model || "unknown",
      usage: usage ?? { ...EMPTY_USAGE },
      stopReason: stopReason ?? (calls ? "tool_use" : "end_turn"),
      timestamp: at,
    };
    this.items.push({ kind: "message", at, key, message });
    return message;
  }

  result(at: number, { toolCallId, toolName, blocks, isError, exitCode, isInterrupted }: CallResult): void {
    const images = blocks.filter((block) => block.type === "image");
    const output = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const outcome = isInterrupted ? ("interrupted" as const) : ("failed" as const);
    const result: ToolResultMessage = {
      role: "tool_result",
      toolCallId,
      toolName: toolName ?? "unknown",
      output: this.cutResult(output),
      ...(images.length > 0 && { images }),
      isError,
      ...(isError && { outcome }),
      ...(exitCode !== undefined && { metadata: { exitCode } }),
      timestamp: at,
    };
    // Its position tells which call it answers, if an id is used again.
    this.items.push({ kind: "message", at, message: result });
  }

  /** The model that answers from here on; nothing if it is the same. */
  model(at: number, provider: string, modelId: string): void {
    if (modelId === "" || this.lastModel === `${provider}/${modelId}`) return;
    this.lastModel = `${provider}/${modelId}`;
    this.items.push({ kind: "model", at, provider, modelId });
  }

  compaction(
    at: number,
    given: Keyed<{
      summary: string;
      tokensBefore?: number;
      keptKey?: string | undefined;
      userTokens?: number;
    }>,
  ): void {
    const { summary, tokensBefore = 0, ...rest } = given;
    const text = summary.trim() === "" ? "(The other agent's summary cannot be read.)" : summary;
    this.items.push({
      kind: "compaction",
      at,
      tokensBefore,
      ...rest,
      summary: this.cut(text, this.limits.maxText),
    });
  }

  branchSummary(at: number, summary: string, key?: string): void {
    this.items.push({ kind: "branch_summary", at, key, summary: this.cut(summary, this.limits.maxText) });
  }

  label(at: number, targetKey: string, label: string): void {
    this.items.push({ kind: "label", at, targetKey, label });
  }

  /** Text of the agent itself; `label` says what it is. */
  note(at: number, label: string, text: string): void {
    this.items.push({ kind: "note", at, label, text: this.cut(text, SHORT) });
  }

  /** The items so far; true if the last one is a compaction. */
  get endsWithCompaction(): boolean {
    return this.items.at(-1)?.kind === "compaction";
  }

  /** The items in order, with exactly one result for each call. */
  finish(): ForeignItem[] {
    const answers = this.pairResults();
    const ordered: ForeignItem[] = [];
    for (const item of this.items) {
      if (item.kind === "message" && item.message.role === "tool_result") continue;
      ordered.push(item);
      if (item.kind !== "message" || item.message.role !== "assistant") continue;
      const { message, at } = item;
      const found = answers.get(message) ?? [];
      toolCallsOf(message).forEach((call, position) => {
        const result = found[position] ?? interrupted(call, at);
        ordered.push({ kind: "message", at: result.timestamp, message: { ...result, toolName: call.name } });
      });
    }
    return ordered;
  }

  private pairResults(): Map<AssistantMessage, (ToolResultMessage | undefined)[]> {
    const answers = new Map<AssistantMessage, (ToolResultMessage | undefined)[]>();
    const waiting = new Map<string, ((result: ToolResultMessage) => void)[]>();
    for (const item of this.items) {
      if (item.kind !== "message") continue;
      const { message } = item;
      if (message.role === "assistant") {
        const own: (ToolResultMessage | undefined)[] = [];
        answers.set(message, own);
        toolCallsOf(message).forEach(({ id }, position, calls) => {
          if (calls.findIndex((call) => call.id === id) === position) waiting.set(id, []);
          waiting.get(id)?.push((result) => {
            own[position] = result;
          });
        });
      } else if (message.role === "tool_result") {
        const answer = waiting.get(message.toolCallId)?.shift();
        if (answer) answer(message);
        else this.skip("result_without_call");
      }
    }
    return answers;
  }

  private cutResult(text: string): string {
    return this.cut(text, this.limits.maxResult);
  }

  private cut(text: string, max: number): string {
    const isOver = this.total > this.limits.maxTotal;
    const room = isOver ? Math.min(max, SHORT) : max;
    const kept = text.length > room ? `${text.slice(0, room).toWellFormed()}…` : text;
    if (isOver && kept !== text) this.skip("text_cut");
    this.total += kept.length;
    return kept;
  }

  private bounded(value: unknown): unknown {
    return boundedCopy(value, (text) => this.cut(text, this.limits.maxText));
  }
}

function interrupted({ id, name }: ToolCallBlock, at: number): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: id,
    toolName: name,
    output: OUTCOME_UNKNOWN,
    isError: true,
    outcome: "interrupted",
    timestamp: at,
  };
}
