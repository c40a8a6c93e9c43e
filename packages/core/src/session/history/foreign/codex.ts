import { basename } from "node:path";
import type { AssistantMessage, ContentBlock } from "../../../types.ts";
import { readRecords } from "./json-lines.ts";
import { type JsonRecord, numberOf, objectOf, objectsIn, parseRecord, textOf, timeOf } from "./json-value.ts";
import { ForeignTranscript } from "./transcript.ts";
import type { ForeignLocation, ForeignParent, ForeignSession, ReadLimits } from "./types.ts";

/** Text at the beginning of user messages that the agent itself wrote. */
const CONTEXT_TEXT =
  /^\s*(?:<environment_context>|<user_instructions>|# AGENTS\.md|<skill>|<turn_aborted>|<permissions instructions>)/;

/** Codex keeps about this much of the user's messages when it compacts. */
const KEPT_USER_TOKENS = 20_000;

/**
 * A session of Codex. The conversation is in the `response_item` lines alone: events repeat it, and only their exit
 * codes and token counts are used.
 */
export async function readCodexSession(
  { path, size }: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<ForeignSession | undefined> {
  const transcript = new ForeignTranscript("codex", limits);
  const rollout = new Rollout(transcript);
  for await (const record of readRecords(path, { counter: transcript, limits, signal })) rollout.add(record);
  rollout.close();
  if (rollout.id === "" && !rollout.hasMessages) return undefined;
  const { cwd, version, gitBranch, parent } = rollout;
  return {
    agent: "codex",
    id: rollout.id || basename(path, ".jsonl"),
    path,
    size,
    version,
    cwd,
    gitBranch,
    createdMs: rollout.createdMs,
    parent,
    items: transcript.finish(),
    skipped: transcript.skipped,
    children: [],
  };
}

const ITEM_TYPES = new Set(["message", "reasoning"]);
const isCall = (type: string) => type.endsWith("_call");
const isOutput = (type: string) => type.endsWith("_output");

class Rollout {
  id = "";
  cwd = "";
  version: string | undefined;
  gitBranch: string | undefined;
  parent: ForeignParent | undefined;
  createdMs = 0;
  hasMessages = false;
  private provider = "openai";
  private model = "";
  private open: { at: number; blocks: ContentBlock[] } | undefined;
  private lastReply: AssistantMessage | undefined;
  private lastTotal = "";
  private readonly exitCodes = new Map<string, number>();
  private searches = 0;

  constructor(private readonly transcript: ForeignTranscript) {}

  add(record: JsonRecord): void {
    const at = timeOf(record.timestamp);
    const type = textOf(record.type) ?? (textOf(record.id) === undefined ? "unknown" : "session_meta");
    // The first versions wrote items without an envelope.
    const payload = objectOf(record.payload) ?? record;
    this.createdMs ||= at;
    const isBareItem =
      record.payload === undefined && (ITEM_TYPES.has(type) || isCall(type) || isOutput(type));
    if (type === "session_meta") this.addMeta(payload);
    else if (type === "turn_context") this.addTurn(at, payload);
    else if (type === "response_item" || isBareItem) this.addItem(at, payload);
    else if (type === "compacted") this.addCompaction(at, payload);
    else if (type === "event_msg") this.addEvent(payload);
    else this.transcript.skip(type);
  }

  /** Ends the reply that is being collected. */
  close(): void {
    const { open } = this;
    this.open = undefined;
    if (!open) return;
    this.hasMessages = true;
    this.transcript.model(open.at, this.provider, this.model);
    this.lastReply = this.transcript.reply(open.at, { blocks: open.blocks, model: this.model });
  }

  private addMeta(meta: JsonRecord): void {
    // A fork repeats the headers of its origin.
    if (this.id !== "") {
      this.transcript.skip("session_meta");
      return;
    }
    this.id = textOf(meta.id) ?? "";
    this.cwd = textOf(meta.cwd) ?? "";
    this.version = textOf(meta.cli_version);
    this.provider = textOf(meta.model_provider) || this.provider;
    this.gitBranch = textOf(objectOf(meta.git)?.branch);
    this.createdMs = timeOf(meta.timestamp) || this.createdMs;
    const source = objectOf(objectOf(meta.source)?.subagent) ?? objectOf(meta.thread_source);
    const spawn = objectOf(source?.thread_spawn) ?? source;
    const sessionId = textOf(spawn?.parent_thread_id);
    if (sessionId !== undefined) this.parent = { sessionId, agent: textOf(spawn?.agent_role) ?? "agent" };
  }

  private addTurn(at: number, turn: JsonRecord): void {
    const model = textOf(turn.model) ?? "";
    this.cwd ||= textOf(turn.cwd) ?? "";
    if (model === "" || model === this.model) return;
    this.close();
    this.model = model;
    this.transcript.model(at, this.provider, model);
  }

  private addItem(at: number, item: JsonRecord): void {
    const type = textOf(item.type) ?? "unknown";
    if (type === "message") this.addMessage(at, item);
    else if (type === "reasoning") this.extend(at, this.reasoning(item));
    else if (isOutput(type)) this.addOutput(at, item);
    else if (isCall(type)) this.addCall(at, type, item);
    else this.transcript.skip(type);
  }

  private extend(at: number, blocks: readonly ContentBlock[]): void {
    if (blocks.length === 0) return;
    this.open ??= { at, blocks: [] };
    this.open.blocks.push(...blocks);
  }

  private addMessage(at: number, item: JsonRecord): void {
    const blocks = this.contentBlocks(item.content);
    const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    if (item.role === "assistant") {
      this.extend(at, blocks);
      return;
    }
    this.close();
    if (item.role === "user" && !CONTEXT_TEXT.test(text)) {
      this.hasMessages ||= blocks.length > 0;
      this.transcript.user(at, blocks);
    } else this.transcript.note(at, item.role === "user" ? "context" : "instructions", text);
  }

  private contentBlocks(content: unknown): ContentBlock[] {
    if (typeof content === "string") return content.trim() === "" ? [] : [this.transcript.text(content)];
    return objectsIn(content).flatMap((block) => {
      if (block.type === "input_image") return [this.transcript.imageAt(block.image_url)];
      const text = textOf(block.text) ?? textOf(block.refusal);
      return text === undefined || text.trim() === "" ? [] : [this.transcript.text(text)];
    });
  }

  private reasoning({ summary, content, encrypted_content: encrypted }: JsonRecord): ContentBlock[] {
    const texts = [...objectsIn(summary), ...objectsIn(content)].flatMap(({ text }) => textOf(text) ?? []);
    const thinking = texts.length > 0 ? [this.transcript.thinking(texts.join("\n\n"))] : [];
    return textOf(encrypted)
      ? [...thinking, this.transcript.opaque({ encrypted_content: encrypted })]
      : thinking;
  }

  private addCall(at: number, type: string, item: JsonRecord): void {
    const kind = type.replace(/_call$/, "");
    const isCustom = kind === "custom_tool";
    const name = textOf(item.name) ?? kind;
    const given = isCustom ? { input: item.input } : (item.arguments ?? item.action ?? item.input ?? {});
    const id = textOf(item.call_id);
    if (id !== undefined) {
      this.extend(at, [this.transcript.call(id, name, given)]);
      return;
    }
    // The provider ran it: the file has no result.
    const ownId = textOf(item.id) ?? `${kind}_${++this.searches}`;
    this.extend(at, [this.transcript.call(ownId, name, given)]);
    this.close();
    const text = "The provider ran this call itself; its result is not in the session.";
    this.transcript.result(at, { toolCallId: ownId, blocks: [this.transcript.text(text)], isError: false });
  }

  private addOutput(at: number, item: JsonRecord): void {
    this.close();
    const toolCallId = textOf(item.call_id) ?? "";
    const { text, exitCode } = unwrapOutput(item.output);
    const code = exitCode ?? this.exitCodes.get(toolCallId);
    const blocks = text === undefined ? this.contentBlocks(item.output) : [this.transcript.text(text)];
    const isError = code !== undefined && code !== 0;
    this.transcript.result(at, { toolCallId, blocks, isError, exitCode: code });
  }

  private addCompaction(at: number, { message, replacement_history: history }: JsonRecord): void {
    this.close();
    // A loop of failing compactions can write hundreds in a row.
    if (this.transcript.endsWithCompaction) {
      this.transcript.skip("compacted");
      return;
    }
    const last = objectsIn(history).at(-1);
    const texts = this.contentBlocks(last?.content).flatMap((block) =>
      block.type === "text" ? [block.text] : [],
    );
    const summary = textOf(message) || texts.join("\n");
    this.transcript.compaction(at, { summary, userTokens: KEPT_USER_TOKENS });
  }

  private addEvent(event: JsonRecord): void {
    const type = textOf(event.type) ?? "unknown";
    const item = type === "item_completed" ? (objectOf(event.item) ?? {}) : event;
    const id = textOf(item.call_id) ?? textOf(item.id);
    const code = item.exit_code ?? item.exitCode;
    if (id !== undefined && typeof code === "number") this.exitCodes.set(id, code);
    if (type === "token_count") this.addUsage(objectOf(event.info));
    else this.transcript.skip(`event_msg/${type}`);
  }

  /** The counts of the newest reply. The same line may come several times. */
  private addUsage(info: JsonRecord | undefined): void {
    const last = objectOf(info?.last_token_usage);
    const total = JSON.stringify(objectOf(info?.total_token_usage) ?? {});
    this.close();
    if (!last || !this.lastReply || total === this.lastTotal) return;
    this.lastTotal = total;
    const cached = numberOf(last.cached_input_tokens);
    this.lastReply.usage = {
      inputTokens: Math.max(0, numberOf(last.input_tokens) - cached),
      outputTokens: numberOf(last.output_tokens),
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
    };
  }
}

const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d{1,10})\b/m;
// The code is in the frame before the output.
const FRAME_LENGTH = 400;

/** The text of an output with the exit code of a command, which may be in a JSON frame. */
function unwrapOutput(output: unknown): { text?: string; exitCode?: number } {
  if (typeof output !== "string") return {};
  const framed = output.startsWith("{") ? parseRecord(output) : undefined;
  const inner = textOf(framed?.output);
  const code = objectOf(framed?.metadata)?.exit_code;
  if (inner !== undefined) return { text: inner, ...(typeof code === "number" && { exitCode: code }) };
  const found = EXIT_CODE.exec(output.slice(0, FRAME_LENGTH))?.[1];
  return { text: output, ...(found !== undefined && { exitCode: Number(found) }) };
}
