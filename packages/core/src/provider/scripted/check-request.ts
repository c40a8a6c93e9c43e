import { isBlank } from "../../history.ts";
import {
  type AssistantMessage,
  assertNever,
  type ContentBlock,
  type ImageBlock,
  type Message,
  type ToolCallBlock,
  type ToolResultMessage,
  toolCallsOf,
} from "../../types.ts";
import type { StreamContext } from "../types.ts";

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** A reason why a real API would reject a request; `path` is the position, such as `messages[2].content[0]`. */
interface RequestFault {
  path: string;
  message: string;
}

/** The first reason why a real API would reject a request, or undefined if it is valid. */
export function findRequestFault(context: StreamContext): RequestFault | undefined {
  for (const fault of requestFaults(context)) return fault;
  return undefined;
}

function* requestFaults(context: StreamContext): Generator<RequestFault> {
  yield* toolFaults(context);
  yield* orderFaults(context.messages);
  for (const [index, message] of context.messages.entries())
    yield* contentFaults(message, `messages[${index}]`);
  yield* pairingFaults(context.messages);
}

function* toolFaults({ tools, messages }: StreamContext): Generator<RequestFault> {
  const names = new Set<string>();
  for (const [index, { name, inputSchema }] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      yield { path, message: `${JSON.stringify(name)} is not a valid tool name` };
    if (names.has(name)) yield { path, message: `a second tool is called ${JSON.stringify(name)}` };
    if (inputSchema.type !== "object")
      yield { path, message: `the schema of ${name} does not describe an object` };
    names.add(name);
  }
  const user = messages.findIndex(usesTools);
  if (tools.length === 0 && user >= 0) {
    yield { path: `messages[${user}]`, message: "tool calls and results in a request that offers no tools" };
  }
}

function usesTools(message: Message): boolean {
  return message.role === "tool_result" || (message.role === "assistant" && toolCallsOf(message).length > 0);
}

function* orderFaults(messages: readonly Message[]): Generator<RequestFault> {
  const [first] = messages;
  if (!first) yield { path: "messages", message: "there are no messages" };
  if (first?.role === "assistant")
    yield { path: "messages[0]", message: "the first message is not the user's" };
  const last = messages.at(-1);
  if (last?.role === "assistant" && !isPaused(last)) {
    yield {
      path: `messages[${messages.length - 1}]`,
      message: "the last message is the assistant's: nothing to answer",
    };
  }
}

/** A provider that paused its turn is sent the same content again, which then ends in its own message. */
function isPaused(message: AssistantMessage): boolean {
  return message.stopReason === "tool_use" && toolCallsOf(message).length === 0;
}

function* contentFaults(message: Message, path: string): Generator<RequestFault> {
  if (message.role === "tool_result") {
    for (const [index, image] of (message.images ?? []).entries())
      yield* imageFaults(image, `${path}.images[${index}]`);
    return;
  }
  const { content, role } = message;
  if (typeof content === "string") {
    if (isBlank(content)) yield { path: `${path}.content`, message: "empty text" };
    return;
  }
  if (role === "user" && content.length === 0)
    yield { path: `${path}.content`, message: "an empty user message" };
  for (const [index, block] of content.entries())
    yield* blockFaults(block, role, `${path}.content[${index}]`);
}

function* blockFaults(
  block: ContentBlock,
  role: "user" | "assistant",
  path: string,
): Generator<RequestFault> {
  switch (block.type) {
    case "text":
      // A model may produce it; adapters do not send it back.
      if (isBlank(block.text) && role === "user") yield { path, message: "an empty text block" };
      return;
    case "image":
      if (role === "assistant") yield { path, message: "an image in an assistant message" };
      yield* imageFaults(block, path);
      return;
    case "tool_call":
      if (role === "user") yield { path, message: "a tool call in a user message" };
      if (block.id === "" || block.name === "")
        yield { path, message: "a tool call without an id or a name" };
      return;
    case "thinking":
      if (role === "user") yield { path, message: "thinking in a user message" };
      return;
    case "opaque":
      return;
    default:
      assertNever(block);
  }
}

function* imageFaults({ source }: ImageBlock, path: string): Generator<RequestFault> {
  if (!IMAGE_TYPES.has(source.mediaType)) {
    yield { path, message: `${JSON.stringify(source.mediaType)} is not an image type that providers accept` };
  }
  if (source.data === "" || source.data.startsWith("data:"))
    yield { path, message: "the image is not plain base64" };
}

/** Every call has exactly one result in the messages right after it, and every result has such a call. */
function* pairingFaults(messages: readonly Message[]): Generator<RequestFault> {
  const ids = new Set<string>();
  let open = new Map<string, { call: ToolCallBlock; path: string }>();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (message.role === "tool_result") {
      yield* resultFaults(message, open.has(message.toolCallId), path);
      open.delete(message.toolCallId);
      continue;
    }
    yield* unansweredFaults(open.values());
    open = new Map();
    if (message.role !== "assistant") continue;
    for (const [blockIndex, call] of message.content.entries()) {
      if (call.type !== "tool_call") continue;
      const place = `${path}.content[${blockIndex}]`;
      if (ids.has(call.id))
        yield { path: place, message: `a second tool call has the id ${JSON.stringify(call.id)}` };
      ids.add(call.id);
      open.set(call.id, { call, path: place });
    }
  }
  yield* unansweredFaults(open.values());
}

function* resultFaults(
  result: ToolResultMessage,
  isExpected: boolean,
  path: string,
): Generator<RequestFault> {
  if (isExpected) return;
  const { toolCallId, toolName } = result;
  yield {
    path,
    message: `a result for ${toolCallId} (${toolName}), which the message before does not call, or a second one`,
  };
}

function* unansweredFaults(open: Iterable<{ call: ToolCallBlock; path: string }>): Generator<RequestFault> {
  for (const { call, path } of open)
    yield { path, message: `tool call ${call.id} (${call.name}) has no result right after it` };
}
