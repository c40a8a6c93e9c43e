import { isEffort, type RequestPurpose } from "../provider/types.ts";
import {
  type ContentBlock,
  type ImageBlock,
  type Message,
  type StopReason,
  TODO_STATUSES,
  type TodoItem,
  type ToolCallOutcome,
  type Usage,
} from "../types.ts";
import type {
  BranchSummaryEntry,
  CompactionDetails,
  CompactionEntry,
  PrefixBreak,
  PrefixBreakCause,
  PruneEntry,
  RequestEntry,
  RequestPrefix,
  SessionEntry,
} from "./types.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A line of a session file that could be parsed. `other` is JSON of a newer version that is not a known kind of entry:
 * it is skipped and does not count as damage.
 */
export type ParsedLine =
  | { kind: "header"; value: JsonObject }
  | { kind: "entry"; entry: SessionEntry }
  | { kind: "other" };

/**
 * Parses one line, which may come from a dead process, another program or a newer version. Undefined for a damaged
 * line. Written by hand: listing sessions must not wait for a schema library to load.
 */
export function parseSessionLine(line: string): ParsedLine | undefined {
  const value = parseObject(line);
  if (!value) return undefined;
  if (value.type === "session") return { kind: "header", value };
  const entry = readEntry(value);
  return entry ? { kind: "entry", entry } : { kind: "other" };
}

// The beginning of entries and headers written by diligent. No text inside them can look like this, since its quotes
// would be escaped; a structured argument could, but would lack the id and the timestamp in these positions.
const LINE_START =
  /\{"type":"[^"]*","id":"[0-9a-f]{8}","parentId":(?:null|"[^"]*"),"timestamp":|\{"type":"session","version":|(?<=\})\{"type":/g;

/**
 * Recovers the readable entries of a damaged line. Lines are merged when a process died between a line and its newline,
 * and some file systems leave zeros after a power failure.
 */
export function parseDamagedLine(line: string): ParsedLine[] {
  const text = line.replaceAll("\0", "");
  const starts = [...text.matchAll(LINE_START)].map((match) => match.index);
  return starts.flatMap((start, index) => parseSessionLine(text.slice(start, starts[index + 1])) ?? []);
}

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    // The line is truncated: the caller counts it.
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The entry with all its fields, including unknown ones. An entry without the required fields of its type is kept as an
 * unknown one, so that the chain of parents stays intact. Undefined if it has no position in that chain.
 */
function readEntry(value: JsonObject): SessionEntry | undefined {
  const { type, id, parentId } = value;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (parentId !== null && typeof parentId !== "string") return undefined;
  const timestamp = typeof value.timestamp === "string" ? value.timestamp : "";
  const position = { id, parentId, timestamp };
  return readKnownEntry(value, position) ?? { type: "unknown", ...position, raw: { ...value } };
}

function readKnownEntry(
  value: JsonObject,
  position: Pick<SessionEntry, "id" | "parentId" | "timestamp">,
): SessionEntry | undefined {
  switch (value.type) {
    case "message": {
      const message = readMessage(value.message);
      return message && { ...value, type: value.type, ...position, message };
    }
    case "model_change": {
      const { type, provider, modelId } = value;
      if (typeof provider !== "string" || typeof modelId !== "string") return undefined;
      return { ...value, type, ...position, provider, modelId };
    }
    case "session_info": {
      const { type, name, ...rest } = value;
      return { ...rest, type, ...position, ...(typeof name === "string" && { name }) };
    }
    case "label": {
      const { type, targetId, label, ...rest } = value;
      if (typeof targetId !== "string") return undefined;
      return { ...rest, type, ...position, targetId, ...(typeof label === "string" && { label }) };
    }
    case "pin": {
      const { type, targetId, pinned } = value;
      if (typeof targetId !== "string" || typeof pinned !== "boolean") return undefined;
      return { ...value, type, ...position, targetId, pinned };
    }
    case "settings": {
      const { type, effort, ...rest } = value;
      if (effort !== undefined && !isEffort(effort)) return undefined;
      return { ...rest, type, ...position, ...(effort !== undefined && { effort }) };
    }
    case "todo": {
      const { type } = value;
      const todos = readTodos(value.todos);
      return todos && { ...value, type, ...position, todos };
    }
    case "task_link": {
      const { type, toolCallId, sessionId, agent } = value;
      if (typeof toolCallId !== "string" || typeof sessionId !== "string" || typeof agent !== "string")
        return undefined;
      return { ...value, type, ...position, toolCallId, sessionId, agent };
    }
    case "hook": {
      const { type, event, command, durationMs, outcome } = value;
      if (typeof event !== "string" || typeof command !== "string") return undefined;
      if (typeof durationMs !== "number" || typeof outcome !== "string") return undefined;
      return { ...value, type, ...position, event, command, durationMs, outcome };
    }
    case "request":
      return readRequest(value, position);
    case "rule_violation": {
      const { type, rule, source, line, name } = value;
      if (typeof rule !== "string" || typeof source !== "string") return undefined;
      if (typeof line !== "number" || typeof name !== "string") return undefined;
      return { ...value, type, ...position, rule, source, line, name };
    }
    case "archive": {
      const { type, archived } = value;
      return typeof archived === "boolean" ? { ...value, type, ...position, archived } : undefined;
    }
    case "custom": {
      const { type, customType, data } = value;
      if (typeof customType !== "string" || data === undefined) return undefined;
      return { ...value, type, ...position, customType, data };
    }
    case "compaction_undo": {
      const { type, targetId } = value;
      return typeof targetId === "string" ? { ...value, type, ...position, targetId } : undefined;
    }
    case "compaction":
      return readCompaction(value, position);
    case "prune":
      return readPrune(value, position);
    case "branch_summary":
      return readBranchSummary(value, position);
    default:
      return undefined;
  }
}

const STOP_REASONS: ReadonlySet<unknown> = new Set([
  "end_turn",
  "tool_use",
  "max_tokens",
  "error",
  "aborted",
]);

const OUTCOMES: ReadonlySet<unknown> = new Set(["failed", "rejected", "skipped", "interrupted"]);

/**
 * A message from a session file. Fields of a newer version are kept; an unknown block becomes an opaque one, which is
 * shown but never sent, so that it does not lose the message. Undefined without a known role.
 */
export function readMessage(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const timestamp = typeof value.timestamp === "number" ? value.timestamp : 0;
  switch (value.role) {
    case "user": {
      const content = typeof value.content === "string" ? value.content : readBlocks(value.content);
      return { ...value, role: "user", content, timestamp };
    }
    case "assistant":
      return {
        ...value,
        role: "assistant",
        content: readBlocks(value.content),
        model: typeof value.model === "string" ? value.model : "unknown",
        usage: readUsage(value.usage),
        stopReason: isStopReason(value.stopReason) ? value.stopReason : "end_turn",
        timestamp,
      };
    case "tool_result":
      return readToolResult(value, timestamp);
    default:
      return undefined;
  }
}

function readToolResult(value: JsonObject, timestamp: number): Message | undefined {
  const { toolCallId, toolName, output, images, outcome, input, metadata, foundTools, ...rest } = value;
  if (typeof toolCallId !== "string") return undefined;
  const kept = Array.isArray(images) ? readBlocks(images).filter(isImage) : [];
  return {
    ...rest,
    role: "tool_result",
    toolCallId,
    toolName: typeof toolName === "string" ? toolName : "unknown",
    output: typeof output === "string" ? output : "",
    ...(kept.length > 0 && { images: kept }),
    isError: value.isError === true,
    ...(isOutcome(outcome) && { outcome }),
    ...(isObject(input) && { input }),
    ...(isObject(metadata) && { metadata: readFacts(metadata) }),
    ...(Array.isArray(foundTools) && { foundTools: foundTools.filter((name) => typeof name === "string") }),
    timestamp,
  };
}

function readFacts(metadata: JsonObject): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(metadata).flatMap(([name, value]) => {
      const isFact = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return isFact ? [[name, value]] : [];
    }),
  );
}

function readUsage(value: unknown): Usage {
  const usage = isObject(value) ? value : {};
  const count = (key: keyof Usage) => {
    const value = usage[key];
    return typeof value === "number" ? value : 0;
  };
  return {
    ...usage,
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cacheReadTokens: count("cacheReadTokens"),
    cacheWriteTokens: count("cacheWriteTokens"),
    ...("webSearches" in usage && { webSearches: count("webSearches") }),
  };
}

function readBlocks(value: unknown): ContentBlock[] {
  if (!Array.isArray(value)) return [];
  return value.map((block: unknown) =>
    isBlock(block) ? block : { type: "opaque", provider: "unknown", raw: block },
  );
}

function isBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "text":
      return typeof value.text === "string";
    case "thinking":
      return typeof value.thinking === "string";
    case "tool_call":
      return typeof value.id === "string" && typeof value.name === "string" && isObject(value.input);
    case "image":
      return isObject(value.source) && isString(value.source.data) && isString(value.source.mediaType);
    case "opaque":
      return typeof value.provider === "string";
    default:
      return false;
  }
}

function isImage(block: ContentBlock): block is ImageBlock {
  return block.type === "image";
}

function isStopReason(value: unknown): value is StopReason {
  return STOP_REASONS.has(value);
}

function isOutcome(value: unknown): value is ToolCallOutcome {
  return OUTCOMES.has(value);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** The parsed position of an entry in the tree. */
type EntryPosition = Pick<CompactionEntry, "id" | "parentId" | "timestamp">;

/**
 * A compaction from a session file. Fields that the context needs must be valid; invalid numbers are corrected or left
 * out. Undefined without a summary or the first kept entry.
 */
export function readCompaction(value: JsonObject, position: EntryPosition): CompactionEntry | undefined {
  const { summary, firstKeptEntryId, details, pinnedTokens, pinnedEntryIds, recall, todos, ...rest } = value;
  if (typeof summary !== "string" || typeof firstKeptEntryId !== "string") return undefined;
  const files = readDetails(details);
  const checklist = readTodos(todos);
  return {
    ...rest,
    type: "compaction",
    ...position,
    summary,
    firstKeptEntryId,
    tokensBefore: isCount(value.tokensBefore) ? value.tokensBefore : 0,
    tokensAfter: isCount(value.tokensAfter) ? value.tokensAfter : 0,
    ...(files && { details: files }),
    ...(isCount(pinnedTokens) && { pinnedTokens }),
    ...(isTexts(pinnedEntryIds) && { pinnedEntryIds }),
    ...(recall === false && { recall }),
    ...(checklist && { todos: checklist }),
  };
}

/** Undefined without the model. Parts that another program has damaged are left out. */
function readRequest(value: JsonObject, position: EntryPosition): RequestEntry | undefined {
  const { provider, modelId, purpose, sent, cost, parts, prefix, break: broken, ...rest } = value;
  if (typeof provider !== "string" || typeof modelId !== "string") return undefined;
  const counts = isObject(parts) ? Object.entries(parts) : [];
  const known = readPrefix(prefix);
  const explained = readBreak(broken);
  return {
    ...rest,
    type: "request",
    ...position,
    provider,
    modelId,
    ...(isPurpose(purpose) && { purpose }),
    sent: isString(sent) && !Number.isNaN(Date.parse(sent)) ? sent : position.timestamp,
    usage: readUsage(value.usage),
    cost: isAmount(cost) ? cost : null,
    parts: Object.fromEntries(
      counts.flatMap(([cause, tokens]) => (isAmount(tokens) ? [[cause, tokens]] : [])),
    ),
    ...(known && { prefix: known }),
    ...(explained && { break: explained }),
  };
}

const PURPOSES = {
  summary: true,
  knowledge: true,
  server: true,
} as const satisfies Record<RequestPurpose, true>;

function isPurpose(value: unknown): value is RequestPurpose {
  return isString(value) && Object.hasOwn(PURPOSES, value);
}

function readPrefix(value: unknown): RequestPrefix | undefined {
  if (!isObject(value)) return undefined;
  const { tools, system, messages, history, effort } = value;
  if (!isString(tools) || !isString(system) || !isCount(messages) || !isString(history)) return undefined;
  return { tools, system, messages, history, ...(isString(effort) && { effort }) };
}

const BREAK_CAUSES = {
  model: true,
  thinking: true,
  tools: true,
  instructions: true,
  compaction: true,
  prune: true,
  rewind: true,
  expiry: true,
} as const satisfies Record<PrefixBreakCause, true>;

const BREAK_PLACES = ["model", "tools", "system", "messages", "end"] as const;

function readBreak(value: unknown): PrefixBreak | undefined {
  if (!isObject(value)) return undefined;
  const { why, messagesBefore, detail, tokens, cost } = value;
  const at = BREAK_PLACES.find((each) => each === value.at);
  if (at === undefined || !isBreakCause(why)) return undefined;
  return {
    why,
    at,
    ...(isCount(messagesBefore) && { messagesBefore }),
    ...(isString(detail) && { detail }),
    tokens: isAmount(tokens) ? tokens : 0,
    cost: isAmount(cost) ? cost : null,
  };
}

function isBreakCause(value: unknown): value is PrefixBreakCause {
  return isString(value) && Object.hasOwn(BREAK_CAUSES, value);
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** Undefined unless all are items of a checklist. */
function readTodos(value: unknown): TodoItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const todos = value.flatMap((item: unknown): TodoItem[] => {
    if (!isObject(item) || typeof item.content !== "string") return [];
    const status = TODO_STATUSES.find((each) => each === item.status);
    const activeForm = typeof item.activeForm === "string" ? { activeForm: item.activeForm } : {};
    return status === undefined ? [] : [{ content: item.content, status, ...activeForm }];
  });
  return todos.length === value.length ? todos : undefined;
}

/** Undefined without the lists of pruned results. */
export function readPrune(value: JsonObject, position: EntryPosition): PruneEntry | undefined {
  const { cleared, trimmed, trimHead, trimTail, recall, ...rest } = value;
  if (!isTexts(cleared) || !isTexts(trimmed)) return undefined;
  return {
    ...rest,
    type: "prune",
    ...position,
    cleared,
    trimmed,
    ...(isCount(trimHead) && { trimHead }),
    ...(isCount(trimTail) && { trimTail }),
    ...(recall === false && { recall }),
  };
}

/** Undefined without a summary or the end of its branch. */
export function readBranchSummary(
  value: JsonObject,
  position: EntryPosition,
): BranchSummaryEntry | undefined {
  const { fromId, summary } = value;
  if (typeof fromId !== "string" || typeof summary !== "string") return undefined;
  return { ...value, type: "branch_summary", ...position, fromId, summary };
}

/** The file lists as far as they are valid: a summary is useful without them. */
function readDetails(value: unknown): CompactionDetails | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const list = (key: string) => {
    const files = fields.get(key);
    return Array.isArray(files) ? files.filter((file) => typeof file === "string") : [];
  };
  return { ...value, readFiles: list("readFiles"), modifiedFiles: list("modifiedFiles") };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
