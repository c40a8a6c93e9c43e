import { computeCost } from "../../agent/cost.ts";
import type { Model, StreamContext } from "../../provider/types.ts";
import { RECALL_TOOL } from "../../session/context-builder.ts";
import type { PrefixBreak, RequestPrefix, SessionEntry } from "../../session/types.ts";
import type { Message, ToolDefinition, Usage } from "../../types.ts";
import { countMessageParts, type Parts, sumParts } from "./count-parts.ts";

/** A request of a conversation, as far as the next one is compared with it. */
export interface SentRequest {
  modelId: string;
  provider: string;
  prefix: RequestPrefix;
  usage: Usage;
  /** Milliseconds since the epoch. */
  sentMs: number;
  /** Digests of its tools by name, and of its messages; undefined for one of an earlier run of the program. */
  details?: { tools: ReadonlyMap<string, string>; messages: readonly string[] };
  /** The names of its tools, as far as they are known without details. */
  toolNames?: readonly string[];
}

/** The digests of a request. */
export function describePrefix(
  { systemPrompt, tools, messages }: StreamContext,
  effort: string | undefined,
): Pick<SentRequest, "prefix"> & { details: NonNullable<SentRequest["details"]> } {
  const digests = messages.map(digestMessage);
  const byTool = new Map(tools.map((tool) => [tool.name, digestTool(tool)]));
  return {
    prefix: {
      tools: digest([...byTool].flat().join(" ")),
      system: digest(systemPrompt),
      messages: digests.length,
      history: digest(digests.join(" ")),
      ...(effort !== undefined && { effort }),
    },
    details: { tools: byTool, messages: digests },
  };
}

/** The next request, with its parts as the provider counted them. */
interface NextRequest extends SentRequest {
  model: Model;
  context: StreamContext;
  parts: Parts;
  details: NonNullable<SentRequest["details"]>;
  /** The session's entries since the request before. */
  entriesSince: readonly SessionEntry[];
}

// A provider may round down, or count a few tokens of its own differently.
const LEAST_LOST_SHARE = 0.1;

/** Why a request could not use what was cached of the one before it; undefined if it could, as far as is known. */
export function explainBreak(before: SentRequest, request: NextRequest): PrefixBreak | undefined {
  const { usage, model } = request;
  const cachedBefore = before.usage.cacheReadTokens + before.usage.cacheWriteTokens;
  const difference = findDifference(before, request);
  const lost = cachedBefore - usage.cacheReadTokens;
  if (!difference && lost <= cachedBefore * LEAST_LOST_SHARE) return undefined;
  if (difference && cachedBefore > 0 && lost <= 0) return undefined;
  const read = usage.inputTokens + usage.cacheWriteTokens;
  // Without a count, what was sent before and is not at the beginning any more had to be read again.
  const unknown = inputTokens(usage) - (difference ? countShared(difference, request) : 0);
  const most = cachedBefore > 0 ? lost : unknown;
  const tokens = Math.max(0, Math.round(Math.min(most, read - countNew(before, request))));
  return {
    ...(difference ?? { why: "expiry", at: "end", detail: describePause(request.sentMs - before.sentMs) }),
    tokens,
    cost: costOfReading(tokens, usage, model),
  };
}

type Difference = Pick<PrefixBreak, "why" | "at" | "messagesBefore" | "detail">;

/** The first part in which a request differs from the beginning of the next, in the order in which providers cache them. */
function findDifference(before: SentRequest, request: NextRequest): Difference | undefined {
  const { prefix, modelId, provider, details, entriesSince } = request;
  const was = before.prefix;
  if (before.modelId !== modelId || before.provider !== provider)
    return { why: "model", at: "model", detail: `${before.modelId} → ${modelId}` };
  const messages = findChangedMessage(before, details.messages);
  const isChanged = was.tools !== prefix.tools || was.system !== prefix.system || messages !== undefined;
  if (!isChanged) {
    if (was.effort === prefix.effort) return undefined;
    return {
      why: "thinking",
      at: "messages",
      messagesBefore: 0,
      detail: `${was.effort ?? "default"} → ${prefix.effort ?? "default"}`,
    };
  }
  const at = was.tools !== prefix.tools ? "tools" : was.system !== prefix.system ? "system" : "messages";
  const place = {
    at,
    ...(at === "messages" && messages !== undefined && { messagesBefore: messages }),
  } as const;
  const changes = at === "tools" ? describeTools(before, details.tools) : {};
  // Both also offer the tool that finds what is missing, and a compaction renews the system prompt.
  const isHiding = messages !== undefined || changes.detail === `+${RECALL_TOOL}`;
  const cause = isHiding
    ? entriesSince.findLast(
        ({ type }) => type === "compaction" || type === "compaction_undo" || type === "prune",
      )
    : undefined;
  switch (cause?.type) {
    case "compaction":
      return { why: "compaction", ...place, ...changes };
    case "compaction_undo":
      return { why: "compaction", ...place, detail: "the last compaction was undone" };
    case "prune":
      return { why: "prune", ...place, ...changes };
  }
  if (at === "tools") return { why: "tools", ...place, ...changes };
  return { why: at === "system" ? "instructions" : "rewind", ...place };
}

/** The number of messages before the first that differs; undefined if the request repeats all of them. */
function findChangedMessage(
  { prefix, details }: SentRequest,
  messages: readonly string[],
): number | undefined {
  if (digest(messages.slice(0, prefix.messages).join(" ")) === prefix.history) return undefined;
  const same = details?.messages.findIndex((each, index) => messages[index] !== each) ?? -1;
  return Math.max(0, same);
}

function describeTools(
  { details, toolNames }: SentRequest,
  tools: ReadonlyMap<string, string>,
): { detail?: string } {
  const before = details ? [...details.tools.keys()] : toolNames;
  if (!before) return {};
  const marks = [
    ...[...tools.keys()].filter((name) => !before.includes(name)).map((name) => `+${name}`),
    ...before.filter((name) => !tools.has(name)).map((name) => `-${name}`),
    ...[...tools].flatMap(([name, is]) => {
      const was = details?.tools.get(name);
      return was !== undefined && was !== is ? [`${name} changed`] : [];
    }),
  ];
  if (marks.length === 0) return details ? { detail: "their order" } : {};
  return { detail: marks.slice(0, MAX_NAMED_TOOLS).join(", ") };
}

const MAX_NAMED_TOOLS = 8;

function describePause(durationMs: number): string {
  const minutes = Math.floor(durationMs / 60_000);
  const time = minutes > 0 ? `${minutes} min` : `${Math.max(0, Math.round(durationMs / 1_000))} s`;
  return `${time} after the request before`;
}

/** The tokens of the request before the difference. */
function countShared({ at, messagesBefore = 0 }: Difference, { parts, context }: NextRequest): number {
  if (at === "model" || at === "tools") return 0;
  const tools = sumWhere(parts, (cause) => TOOL_CAUSES.test(cause));
  if (at === "system") return tools;
  const all = context.messages.map((message) => sumParts(countMessageParts(message)));
  const inMessages = all.reduce((sum, tokens) => sum + tokens, 0);
  const before = all.slice(0, messagesBefore).reduce((sum, tokens) => sum + tokens, 0);
  const system = sumWhere(parts, (cause) => PROMPT_CAUSES.test(cause));
  const messages = sumParts(parts) - tools - system;
  return tools + system + (inMessages > 0 ? (messages * before) / inMessages : 0);
}

/** The tokens of its messages that were not part of the request before. */
function countNew({ prefix, details }: SentRequest, { parts, context, details: own }: NextRequest): number {
  const sent = new Set(details?.messages ?? []);
  const isNew = (index: number) =>
    details ? !sent.has(own.messages[index] ?? "") : index >= prefix.messages;
  const all = context.messages.map((message) => sumParts(countMessageParts(message)));
  const added = all.reduce((sum, tokens, index) => (isNew(index) ? sum + tokens : sum), 0);
  const inMessages = all.reduce((sum, tokens) => sum + tokens, 0);
  const messages = sumWhere(parts, (cause) => !TOOL_CAUSES.test(cause) && !PROMPT_CAUSES.test(cause));
  return inMessages > 0 ? (messages * added) / inMessages : 0;
}

const TOOL_CAUSES = /^(?:tool|mcp):/;
const PROMPT_CAUSES = /^(?:system|instructions|skills|knowledge|mcp)$/;

function sumWhere(parts: Parts, isWanted: (cause: string) => boolean): number {
  return Object.entries(parts).reduce((sum, [cause, tokens]) => (isWanted(cause) ? sum + tokens : sum), 0);
}

/** What these tokens cost more than if the cache had been read; null if one of the prices is unknown. */
function costOfReading(tokens: number, usage: Usage, model: Model): number | null {
  if (model.cacheReadCostPer1M === undefined) return null;
  const written = Math.min(tokens, usage.cacheWriteTokens);
  const fresh = Math.min(tokens - written, usage.inputTokens);
  const cost = computeCost(usage, model);
  const cached = computeCost(
    {
      ...usage,
      cacheWriteTokens: usage.cacheWriteTokens - written,
      inputTokens: usage.inputTokens - fresh,
      cacheReadTokens: usage.cacheReadTokens + written + fresh,
    },
    model,
  );
  return cost === null || cached === null ? null : Math.max(0, Number((cost - cached).toFixed(9)));
}

function inputTokens({ inputTokens: fresh, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return fresh + cacheReadTokens + cacheWriteTokens;
}

const digests = new WeakMap<Message | ToolDefinition, string>();

function digestMessage(message: Message): string {
  const { role } = message;
  const sent =
    role === "tool_result"
      ? [role, message.toolCallId, message.output, message.images ?? [], message.isError]
      : [role, message.content];
  return digestOnce(message, () => JSON.stringify(sent));
}

function digestTool(tool: ToolDefinition): string {
  return digestOnce(tool, () => JSON.stringify(tool));
}

function digestOnce(value: Message | ToolDefinition, toText: () => string): string {
  const known = digests.get(value);
  if (known !== undefined) return known;
  const made = digest(toText());
  digests.set(value, made);
  return made;
}

function digest(text: string): string {
  return Bun.hash(text).toString(36);
}
