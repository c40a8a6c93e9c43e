import type { Script } from "../../src/provider/scripted/script.ts";
import { createScriptedStream, type ScriptedOptions, scriptedModel } from "../../src/provider/scripted.ts";
import type { ProviderEvent, StreamContext, StreamFunction } from "../../src/provider/types.ts";
import {
  type AssistantMessage,
  type ContentBlock,
  EMPTY_USAGE,
  type Message,
  type StopReason,
  type ToolResultMessage,
} from "../../src/types.ts";

/** The time of every message the scripted provider writes in tests. */
export const AT = 1_700_000_000_000;

export function user(content: string | ContentBlock[]): Message {
  return { role: "user", content, timestamp: AT };
}

export function assistant(content: ContentBlock[], stopReason: StopReason = "end_turn"): AssistantMessage {
  return {
    role: "assistant",
    content,
    model: "scripted/test.json",
    usage: EMPTY_USAGE,
    stopReason,
    timestamp: AT,
  };
}

export function toolCall(id: string, name = "ls"): ContentBlock {
  return { type: "tool_call", id, name, input: {} };
}

export function toolResult(toolCallId: string, toolName = "ls"): ToolResultMessage {
  return { role: "tool_result", toolCallId, toolName, output: "a.ts", isError: false, timestamp: AT };
}

export const LS_TOOL = { name: "ls", description: "Lists a directory.", inputSchema: { type: "object" } };

export function request(messages: readonly Message[], context: Partial<StreamContext> = {}): StreamContext {
  return { systemPrompt: "", messages, tools: [], ...context };
}

export function scripted(turns: Script["turns"], options: ScriptedOptions = {}): StreamFunction {
  return createScriptedStream({ version: 1, turns }, { now: () => AT, ...options });
}

export const MODEL = scriptedModel("test.json", { version: 1, turns: [] });

/** Asks once and returns everything the stream says. */
export async function ask(
  stream: StreamFunction,
  messages: readonly Message[] = [user("hello")],
  context: Partial<StreamContext> = { tools: [LS_TOOL] },
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const event of stream(MODEL, request(messages, context), {})) events.push(event);
  return events;
}

/** The message a request ends in. */
export function messageOf(events: readonly ProviderEvent[]): AssistantMessage {
  const last = events.at(-1);
  if (last?.type === "done") return last.message;
  throw new Error(`The stream ended in ${last?.type}: ${last?.type === "error" ? last.error.message : ""}`);
}

/** What a request failed with, as plain data. */
export function errorOf(events: readonly ProviderEvent[]): { errorType: string; message: string } {
  const last = events.at(-1);
  if (last?.type === "error") return { errorType: last.error.errorType, message: last.error.message };
  throw new Error(`The stream ended in ${last?.type}`);
}
