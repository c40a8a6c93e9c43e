import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { StoppedError } from "../../../infrastructure/async.ts";
import { readDirectory } from "../../../infrastructure/fs/directory.ts";
import { readSmallText } from "../../../infrastructure/fs/read.ts";
import type { ContentBlock, StopReason, Usage } from "../../../types.ts";
import { readRecords } from "./json-lines.ts";
import { type JsonRecord, numberOf, objectOf, objectsIn, parseRecord, textOf, timeOf } from "./json-value.ts";
import { ForeignTranscript } from "./transcript.ts";
import type { ForeignItem, ForeignLocation, ForeignParent, ForeignSession, ReadLimits } from "./types.ts";

// A line of the file, reduced to what it becomes. `none` is part of the chain of parents and nothing else.
type Body =
  | { kind: "none" }
  | {
      kind: "user";
      blocks: ContentBlock[];
      note?: string;
      results: JsonRecord[];
      exitCodes: JsonRecord | undefined;
    }
  | { kind: "reply"; messageId: string; message: JsonRecord; order: number }
  | { kind: "boundary"; tokensBefore: number; preserved: string[] }
  | { kind: "summary"; text: string };

interface ChainLine {
  position: number;
  uuid: string;
  parent: string | undefined;
  isSidechain: boolean;
  at: number;
  body: Body;
}

/** Text that begins so was put into the user's mouth: commands and their output, reminders. */
const COMMAND_TEXT = /^<(?:command-name|command-message|local-command-(?:stdout|stderr|caveat))>/;
const REMINDER_TEXT = /^<system-reminder>/;

/**
 * A session of Claude Code, in which each line names its parent. The chain from the last line gives the conversation;
 * results of parallel calls, and further blocks of a reply, are beside it and belong to it.
 */
export async function readClaudeCodeSession(
  { path, size }: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<ForeignSession | undefined> {
  const transcript = new ForeignTranscript("claude-code", limits);
  const file = new ClaudeFile(transcript);
  for await (const record of readRecords(path, { counter: transcript, limits, signal })) file.add(record);
  if (file.lines.length === 0) return undefined;
  const isSubagent = file.lines.every(({ isSidechain }) => isSidechain);
  const main = isSubagent ? file.lines : file.lines.filter(({ isSidechain }) => !isSidechain);
  const id = isSubagent ? basename(path, ".jsonl") : file.sessionId || basename(path, ".jsonl");
  const { cwd, version, gitBranch, name } = file;
  const session = { agent: "claude-code" as const, path, size, cwd, version, gitBranch };
  const items = toItems(main, transcript);
  const children =
    limits.withChildren && !isSubagent ? await readChildren(path, file, id, limits, signal) : [];
  const parent: ForeignParent | undefined =
    isSubagent && file.sessionId !== "" ? { sessionId: file.sessionId, agent: "agent" } : undefined;
  return {
    ...session,
    id,
    name,
    parent,
    createdMs: main.find(({ at }) => at > 0)?.at ?? 0,
    items,
    skipped: transcript.skipped,
    children: [
      ...children,
      ...(isSubagent ? [] : sidechains(file, limits).map((child) => ({ ...session, ...child }))),
    ],
  };
}

class ClaudeFile {
  readonly lines: ChainLine[] = [];
  sessionId = "";
  cwd = "";
  version: string | undefined;
  gitBranch: string | undefined;
  name: string | undefined;
  private position = 0;

  constructor(private readonly transcript: ForeignTranscript) {}

  add(record: JsonRecord): void {
    const type = textOf(record.type) ?? "unknown";
    const position = this.position++;
    this.sessionId ||= textOf(record.sessionId) ?? "";
    this.cwd ||= textOf(record.cwd) ?? "";
    this.version = textOf(record.version) ?? this.version;
    this.gitBranch = textOf(record.gitBranch) || this.gitBranch;
    const title = textOf(record.customTitle) ?? textOf(record.title) ?? textOf(record.summary);
    if (type === "custom-title" || (type === "summary" && this.name === undefined))
      this.name = title ?? this.name;
    const uuid = textOf(record.uuid);
    const body = this.toBody(type, record, position);
    if (body === undefined || body.kind === "none") this.transcript.skip(type);
    if (uuid === undefined || body === undefined) return;
    const logical = body.kind === "boundary" ? textOf(record.logicalParentUuid) : undefined;
    const parent = logical ?? textOf(record.parentUuid) ?? (body.kind === "boundary" ? "" : undefined);
    const isSidechain = record.isSidechain === true;
    this.lines.push({ position, uuid, parent, isSidechain, at: timeOf(record.timestamp), body });
  }

  /** Counts a sub-agent's file that cannot be read. */
  skipUnreadable(): void {
    this.transcript.skip("unreadable_subagent");
  }

  /** Undefined for a record that is not part of the conversation. */
  private toBody(type: string, record: JsonRecord, position: number): Body | undefined {
    const message = objectOf(record.message);
    if (type === "user" && message) return this.toUserBody(record, message);
    if (type === "assistant" && message) {
      const order = typeof record.apiBlockIndex === "number" ? record.apiBlockIndex : position;
      return { kind: "reply", messageId: textOf(message.id) ?? `line-${position}`, message, order };
    }
    if (type === "system" && record.subtype === "compact_boundary") {
      const data = objectOf(record.compactMetadata) ?? {};
      const kept = objectOf(data.preservedMessages)?.uuids;
      const head = textOf(objectOf(data.preservedSegment)?.headUuid);
      const preserved = Array.isArray(kept) ? kept.flatMap((uuid) => textOf(uuid) ?? []) : head ? [head] : [];
      return { kind: "boundary", tokensBefore: numberOf(data.preTokens), preserved };
    }
    return textOf(record.uuid) === undefined ? undefined : { kind: "none" };
  }

  private toUserBody(record: JsonRecord, message: JsonRecord): Body {
    const { content } = message;
    if (record.isCompactSummary === true) return { kind: "summary", text: plainText(content) };
    const results = objectsIn(content).filter(({ type }) => type === "tool_result");
    const blocks = toBlocks(content, this.transcript);
    const [first] = blocks;
    const text = first?.type === "text" ? first.text.trimStart() : "";
    const isAgents =
      record.isMeta === true || objectOf(record.origin) !== undefined || record.promptSource === "system";
    const note = COMMAND_TEXT.test(text)
      ? "command"
      : REMINDER_TEXT.test(text) || isAgents
        ? "context"
        : undefined;
    return {
      kind: "user",
      blocks,
      ...(note !== undefined && { note }),
      results,
      exitCodes: objectOf(record.toolUseResult),
    };
  }
}

function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join("\n");
}

/** Texts and images. */
function toBlocks(content: unknown, transcript: ForeignTranscript): ContentBlock[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [transcript.text(content)];
  return objectsIn(content).flatMap((block) => {
    if (block.type === "text") return textOf(block.text)?.trim() ? [transcript.text(String(block.text))] : [];
    if (block.type === "image") return [transcript.image(objectOf(block.source)?.data)];
    if (block.type !== "tool_result") transcript.skip(`block ${textOf(block.type)}`.replace(" ", "."));
    return [];
  });
}

/** The lines of the conversation that ends with the last line, in the order of the file. */
function selectConversation(lines: readonly ChainLine[], transcript: ForeignTranscript): ChainLine[] {
  const byUuid = new Map(lines.map((line, index) => [line.uuid, { line, index }]));
  const lastIndex = lines.findLastIndex(({ body }) => body.kind !== "none");
  const selected = new Set<ChainLine>();
  let at = lines[lastIndex] ? { line: lines[lastIndex], index: lastIndex } : undefined;
  while (at && !selected.has(at.line)) {
    const { line, index }: { line: ChainLine; index: number } = at;
    selected.add(line);
    const before = lines[index - 1];
    // A damaged parent, or one in another file: the line before continues the conversation.
    const previous = before && { line: before, index: index - 1 };
    at = line.parent === undefined ? undefined : (byUuid.get(line.parent) ?? previous);
  }
  addBeside(lines, selected);
  for (const line of lines)
    if (!selected.has(line) && line.body.kind !== "none") transcript.skip("other_branch");
  return lines.filter((line) => selected.has(line));
}

/** Adds the other blocks of selected replies, and the results of their calls. */
function addBeside(lines: readonly ChainLine[], selected: Set<ChainLine>): void {
  const messageIds = new Set<string>();
  for (const { body } of selected) if (body.kind === "reply") messageIds.add(body.messageId);
  const calls = new Set<string>();
  for (const line of lines) {
    const { body } = line;
    if (body.kind !== "reply" || !messageIds.has(body.messageId)) continue;
    selected.add(line);
    for (const block of objectsIn(body.message.content))
      if (block.type === "tool_use") calls.add(textOf(block.id) ?? "");
  }
  for (const line of lines) {
    const { body } = line;
    if (body.kind !== "user") continue;
    if (body.results.some((result) => calls.has(textOf(result.tool_use_id) ?? ""))) selected.add(line);
  }
}

function toItems(lines: readonly ChainLine[], transcript: ForeignTranscript): ForeignItem[] {
  const conversation = selectConversation(lines, transcript);
  const replies = new Map<string, ChainLine[]>();
  for (const line of conversation) {
    if (line.body.kind !== "reply") continue;
    const parts = replies.get(line.body.messageId) ?? [];
    parts.push(line);
    replies.set(line.body.messageId, parts);
  }
  // The boundary comes first, its summary with one of the next lines.
  let boundary: { at: number; tokensBefore: number; keptKey: string | undefined } | undefined;
  const compact = (summary: string) => {
    if (boundary) transcript.compaction(boundary.at, { ...boundary, summary });
    boundary = undefined;
  };
  const order = new Map(conversation.map(({ uuid, position }) => [uuid, position]));
  for (const line of conversation) {
    const { body, at } = line;
    if (body.kind === "boundary") {
      compact("");
      const [keptKey] = body.preserved
        .filter((uuid) => order.has(uuid))
        .sort((left, right) => (order.get(left) ?? 0) - (order.get(right) ?? 0));
      boundary = { at, tokensBefore: body.tokensBefore, keptKey };
    } else if (body.kind === "summary") {
      boundary ??= { at, tokensBefore: 0, keptKey: undefined };
      compact(body.text);
    } else if (body.kind === "reply") {
      const parts = replies.get(body.messageId);
      if (parts) addReply(parts, transcript);
      replies.delete(body.messageId);
    } else if (body.kind === "user") {
      if (boundary && line.parent !== undefined && body.results.length === 0 && body.note === undefined)
        compact("");
      addUserLine(line, body, transcript);
    }
  }
  compact("");
  return transcript.finish();
}

function addUserLine(
  { at, uuid }: ChainLine,
  { blocks, note, results, exitCodes }: Extract<Body, { kind: "user" }>,
  transcript: ForeignTranscript,
): void {
  for (const result of results) {
    const code = exitCodes?.exitCode;
    transcript.result(at, {
      toolCallId: textOf(result.tool_use_id) ?? "",
      blocks: toBlocks(result.content, transcript),
      isError: result.is_error === true,
      isInterrupted: exitCodes?.interrupted === true,
      ...(typeof code === "number" && { exitCode: code }),
    });
  }
  if (note === undefined) transcript.user(at, blocks, { key: uuid });
  else if (blocks.length > 0)
    transcript.note(
      at,
      note,
      blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    );
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  stop_sequence: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
};

function addReply(parts: readonly ChainLine[], transcript: ForeignTranscript): void {
  const sorted = parts.flatMap(({ body, ...line }) => (body.kind === "reply" ? [{ ...line, body }] : []));
  sorted.sort((left, right) => left.body.order - right.body.order);
  const [first] = sorted;
  if (!first) return;
  const { at, uuid } = first;
  const model = textOf(first.body.message.model) ?? "";
  if (model === "<synthetic>") {
    transcript.note(at, "error", plainText(first.body.message.content));
    return;
  }
  const blocks = sorted.flatMap(({ body }) => toReplyBlocks(body.message.content, transcript));
  if (blocks.length === 0) {
    transcript.skip("empty_reply");
    return;
  }
  const usages = sorted
    .map(({ body }) => objectOf(body.message.usage))
    .filter((usage) => usage !== undefined);
  const stop = sorted
    .map(({ body }) => textOf(body.message.stop_reason))
    .findLast((reason) => reason !== undefined);
  transcript.model(at, "anthropic", model);
  const usage = toUsage(usages.at(-1));
  transcript.reply(at, { blocks, model, usage, stopReason: STOP_REASONS[stop ?? ""], key: uuid });
}

function toReplyBlocks(content: unknown, transcript: ForeignTranscript): ContentBlock[] {
  if (typeof content === "string") return toBlocks(content, transcript);
  return objectsIn(content).flatMap((block) => {
    switch (block.type) {
      case "text":
        return textOf(block.text)?.trim() ? [transcript.text(String(block.text))] : [];
      case "thinking":
        return [transcript.thinking(textOf(block.thinking) ?? "", block.signature)];
      case "tool_use":
        return [transcript.call(textOf(block.id) ?? "", textOf(block.name) ?? "", block.input)];
      default:
        return [transcript.opaque(block)];
    }
  });
}

function toUsage(usage: JsonRecord | undefined): Usage | undefined {
  return (
    usage && {
      inputTokens: numberOf(usage.input_tokens),
      outputTokens: numberOf(usage.output_tokens),
      cacheReadTokens: numberOf(usage.cache_read_input_tokens),
      cacheWriteTokens: numberOf(usage.cache_creation_input_tokens),
    }
  );
}

type Child = Pick<ForeignSession, "id" | "name" | "parent" | "createdMs" | "items" | "skipped" | "children">;

/** Sub-agents of older versions, whose lines are in the file of their parent: one for each chain. */
function sidechains(file: ClaudeFile, limits: ReadLimits): Child[] {
  if (!limits.withChildren) return [];
  const roots = new Map<string, string>();
  const chains = new Map<string, ChainLine[]>();
  for (const line of file.lines) {
    if (!line.isSidechain) continue;
    const root = (line.parent !== undefined && roots.get(line.parent)) || line.uuid;
    roots.set(line.uuid, root);
    const chain = chains.get(root) ?? [];
    chain.push(line);
    chains.set(root, chain);
  }
  return [...chains].map(([root, lines]) => {
    const transcript = new ForeignTranscript("claude-code", limits);
    return {
      id: `${file.sessionId}.${root}`,
      name: undefined,
      parent: { sessionId: file.sessionId, agent: "agent" },
      createdMs: lines.find(({ at }) => at > 0)?.at ?? 0,
      items: toItems(lines, transcript),
      skipped: transcript.skipped,
      children: [],
    };
  });
}

/** The files of sub-agents in the directory beside a session. */
export function subagentFiles(path: string): string[] {
  const directory = join(path.replace(/\.jsonl$/, ""), "subagents");
  if (!existsSync(directory)) return [];
  try {
    return readDirectory(directory).flatMap(({ name, kind }) =>
      kind === "file" && /^agent-.*\.jsonl$/.test(name) ? [join(directory, name)] : [],
    );
  } catch {
    return []; // Not readable: the session itself is.
  }
}

async function readChildren(
  path: string,
  file: ClaudeFile,
  sessionId: string,
  limits: ReadLimits,
  signal: AbortSignal | undefined,
): Promise<ForeignSession[]> {
  const children: ForeignSession[] = [];
  for (const childPath of subagentFiles(path)) {
    try {
      const location = { agent: "claude-code" as const, path: childPath, size: 0, modifiedMs: 0 };
      const child = await readClaudeCodeSession(location, { ...limits, withChildren: false }, signal);
      const meta =
        parseRecord(readSmallText(childPath.replace(/\.jsonl$/, ".meta.json"), 65_536) ?? "") ?? {};
      const agent = textOf(meta.agentType) ?? "agent";
      const parent = { sessionId, toolCallId: textOf(meta.toolUseId), agent };
      if (child) children.push({ ...child, id: `${sessionId}.${basename(childPath, ".jsonl")}`, parent });
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      file.skipUnreadable();
    }
  }
  return children;
}
