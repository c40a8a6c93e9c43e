import type { CreateMessageRequestParams, CreateMessageResult } from "@modelcontextprotocol/client";
import type { SessionScope } from "../../harness/types.ts";
import { type AssistantMessage, type ContentBlock, messageText, type UserMessage } from "../../types.ts";
import { toPlainText } from "./catalog.ts";

/** A request of a server to the session's model. */
interface SamplingRequest {
  server: string;
  request: CreateMessageRequestParams;
  signal: AbortSignal;
}

// A server that asks more often in one minute uses up the user's money.
const MAX_REQUESTS = 10;
const WINDOW_MS = 60_000;
const MAX_ANSWER_TOKENS = 4_096;
const SHOWN_CHARS = 1_000;

const made = new WeakMap<object, number[]>();

const ALLOW = "Send it";

/**
 * Lets the session's model answer a server, without tools. Asks the user first, except in the mode `auto`.
 * @throws Error, for the server, if it is not allowed.
 */
export async function answerSampling(
  scope: SessionScope | undefined,
  { server, request, signal }: SamplingRequest,
): Promise<CreateMessageResult> {
  if (!scope?.request) throw new Error("No session can answer now.");
  if (!mayRequest(scope)) throw new Error(`At most ${MAX_REQUESTS} requests a minute are answered.`);
  const messages = request.messages.map(toMessage);
  if (scope.mode() !== "auto") await askUser(scope, { server, request, signal });
  const maxTokens = Math.min(Math.max(1, request.maxTokens), MAX_ANSWER_TOKENS);
  const context = { systemPrompt: request.systemPrompt ?? "", messages, tools: [] };
  const answer = await scope.request(context, { maxTokens, signal });
  return {
    role: "assistant",
    content: { type: "text", text: messageText(answer) },
    model: answer.model,
    stopReason: STOP_REASONS[answer.stopReason],
  };
}

function mayRequest(scope: object): boolean {
  const now = performance.now();
  const recent = (made.get(scope) ?? []).filter((at) => now - at < WINDOW_MS);
  if (recent.length >= MAX_REQUESTS) return false;
  made.set(scope, [...recent, now]);
  return true;
}

async function askUser(scope: SessionScope, { server, request, signal }: SamplingRequest): Promise<void> {
  if (!scope.askUser) throw new Error("Nobody can be asked whether the model may answer.");
  const texts = request.messages.map((message) => `${message.role}: ${messageText(toMessage(message))}`);
  const shown = [...(request.systemPrompt ? [`system: ${request.systemPrompt}`] : []), ...texts].join("\n");
  const about = `The server ${toPlainText(server, 100)} wants to ask the model, at your expense:`;
  const question = `${about}\n${toPlainText(shown, SHOWN_CHARS)}`;
  const options = [{ label: ALLOW }, { label: "Refuse" }];
  const answers = await scope.askUser([{ question, header: "Model", options }], { signal });
  if (answers?.[0]?.[0] !== ALLOW) throw new Error("The user refused.");
}

const STOP_REASONS: Readonly<Record<AssistantMessage["stopReason"], string>> = {
  end_turn: "endTurn",
  max_tokens: "maxTokens",
  tool_use: "endTurn",
  aborted: "endTurn",
  error: "endTurn",
};

type SamplingMessage = CreateMessageRequestParams["messages"][number];

/** Content that is neither text nor an image is left out. @throws Error, for the server, if nothing is left. */
function toMessage({ role, content }: SamplingMessage): UserMessage | AssistantMessage {
  const blocks = [content].flat().flatMap((block): ContentBlock[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    if (block.type !== "image") return [];
    return [{ type: "image", source: { type: "base64", mediaType: block.mimeType, data: block.data } }];
  });
  if (blocks.length === 0) throw new Error("A message has neither text nor an image.");
  if (role === "user") return { role, content: blocks, timestamp: 0 };
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return { role, content: blocks, model: "", usage, stopReason: "end_turn", timestamp: 0 };
}
