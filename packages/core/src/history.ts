import {
  type AssistantMessage,
  assertNever,
  type ContentBlock,
  type Message,
  type ToolResultMessage,
  toolCallsOf,
  type UserMessage,
} from "./types.ts";

/** Texts that a model reads in place of a missing result. */

/** Providers reject an empty text. */
export const EMPTY_OUTPUT = "(no output)";

/** The call was running when it was stopped. */
export const INTERRUPTED =
  "Interrupted: the call did not finish, and what it had done by then is unknown. Check before you repeat it.";

/** The result is missing: the process died, or the user stopped it. */
export const OUTCOME_UNKNOWN =
  "The tool call was interrupted before it returned a result. Whether it took effect is unknown: check before you repeat it.";

/** The run was stopped before it reached this call. */
export const NOT_STARTED = "Interrupted: the run was stopped before this call was started. It was not run.";

/**
 * True for a text that providers reject as empty; some servers run Python, which treats control characters as white
 * space.
 */
export function isBlank(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
  return /^[\s\x1c-\x1f\x85]*$/.test(text);
}

type ResultsOfCalls = Array<ToolResultMessage | undefined>;

/**
 * The messages as every provider accepts them: each tool call has exactly one result, directly after its message
 * and in call order; call ids are unique; no text is blank; no message is empty. Valid messages are returned as the
 * same objects. Each message depends only on those before it, except that a call's result may arrive later: the
 * beginning of a growing conversation therefore stays the same and provider caches keep hitting.
 */
export function toSendableHistory(messages: readonly Message[]): Message[] {
  const results = pairResults(messages);
  const usedIds = new Set<string>();
  return messages.flatMap((message, index) => {
    if (message.role === "user") return toSendableUser(message);
    // Results are placed after their calls.
    if (message.role === "tool_result") return [];
    return toSendableTurn(message, results.get(index) ?? [], usedIds);
  });
}

/** The results of each assistant message's calls, by the message's index and in call order. */
function pairResults(messages: readonly Message[]): Map<number, ResultsOfCalls> {
  const paired = new Map<number, ResultsOfCalls>();
  // An id may be reused in a later message: a result then answers the newest call with it.
  const waiting = new Map<string, Array<(result: ToolResultMessage) => void>>();
  messages.forEach((message, index) => {
    if (message.role === "tool_result") {
      waiting.get(message.toolCallId)?.shift()?.(message);
    } else if (message.role === "assistant") {
      const results: ResultsOfCalls = [];
      paired.set(index, results);
      toolCallsOf(message).forEach((call, position, calls) => {
        if (calls.findIndex(({ id }) => id === call.id) === position) waiting.set(call.id, []);
        waiting.get(call.id)?.push((result) => {
          results[position] = result;
        });
      });
    }
  });
  return paired;
}

function toSendableUser(message: UserMessage): Message[] {
  const { content } = message;
  if (typeof content === "string") return isBlank(content) ? [] : [message];
  const kept = content.filter(
    (block) => block.type === "image" || (block.type === "text" && !isBlank(block.text)),
  );
  if (kept.length === 0) return [];
  return [kept.length === content.length ? message : { ...message, content: kept }];
}

/** An assistant message with the results of its calls; empty when no part of it can be sent. */
function toSendableTurn(message: AssistantMessage, results: ResultsOfCalls, usedIds: Set<string>): Message[] {
  const content = message.content
    .filter((block) => block.type !== "image" && (block.type !== "text" || !isBlank(block.text)))
    .map((block) => (block.type === "tool_call" ? withUniqueId(block, usedIds) : block));
  if (content.length === 0) return [];
  const isUnchanged =
    content.length === message.content.length && content.every((block, i) => block === message.content[i]);
  const turn = isUnchanged ? message : { ...message, content };
  const answers = toolCallsOf(turn).map((call, position) => {
    const result = results[position];
    return result
      ? toSendableResult(result, call.id)
      : interruptedResult(call.id, call.name, message.timestamp);
  });
  return [turn, ...answers];
}

function withUniqueId<T extends { id: string }>(call: T, usedIds: Set<string>): T {
  const base = call.id || "call";
  let id = base;
  for (let count = 2; usedIds.has(id); count++) id = `${base}_${count}`;
  usedIds.add(id);
  return id === call.id ? call : { ...call, id };
}

function toSendableResult(result: ToolResultMessage, toolCallId: string): ToolResultMessage {
  const isEmpty = isBlank(result.output) && !result.images?.length;
  if (!isEmpty && result.toolCallId === toolCallId) return result;
  return { ...result, toolCallId, ...(isEmpty && { output: EMPTY_OUTPUT }) };
}

function interruptedResult(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId,
    toolName,
    output: OUTCOME_UNKNOWN,
    isError: true,
    outcome: "interrupted",
    timestamp,
  };
}

/** About 1,200 tokens, which is the providers' count for one image whatever the length of its base64. */
export const IMAGE_CHARACTERS = 4_800;

/** The characters of a message that become tokens, without the names of its tool calls. */
export function countMessageCharacters(message: Message): number {
  if (message.role !== "tool_result") return countContentCharacters(message.content);
  return message.output.length + (message.images?.length ?? 0) * IMAGE_CHARACTERS;
}

/** The characters of texts, thinking and JSON arguments. An image counts `IMAGE_CHARACTERS`. */
export function countContentCharacters(content: string | readonly ContentBlock[]): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => sum + countBlockCharacters(block), 0);
}

function countBlockCharacters(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "image":
      return IMAGE_CHARACTERS;
    case "tool_call":
      return (block.invalidInput ?? JSON.stringify(block.input)).length;
    case "opaque":
      return JSON.stringify(block.raw ?? "").length;
    default:
      return assertNever(block);
  }
}
