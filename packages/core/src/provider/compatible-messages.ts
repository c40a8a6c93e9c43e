import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { toSendableHistory } from "../history.ts";
import type { Message, ToolResultMessage } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import { createWireIds } from "./call-names.ts";
import {
  joinContent,
  toImageContent,
  toResultText,
  toUserContent,
  type UserContent,
} from "./compatible-parts.ts";
import { type TurnContext, toAssistantParam } from "./compatible-turn.ts";
import { limitImages } from "./image-limits.ts";
import { withToolsAsText } from "./tool-text.ts";

/** Stands where a user's word is wanted and there is none: before an answer that opens the conversation or follows one. */
const CONTINUE = "Continue.";

// OpenAI's own limit for this API.
const MAX_ID_CHARS = 40;

/** Who is asked, and what of a history cannot be sent. */
export interface MessageOptions extends Omit<TurnContext, "toWireId"> {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  /** False when the server or the model refuses images: notes stand in their place. */
  takesImages: boolean;
}

/**
 * The conversation as every server takes it, whatever the history looks like: it begins with the user, user and assistant
 * take turns, as many chat templates want it, every call is answered directly behind its message, and there is something to
 * answer at the end. Results can only be text, so their images follow behind the last of them as the user's.
 */
export function toCompatibleMessages(
  messages: readonly Message[],
  options: MessageOptions,
): ChatCompletionMessageParam[] {
  const history = limitImages(toSendableHistory(messages));
  const sendable = options.hasTools ? history : withToolsAsText(history);
  const context = { ...options, toWireId: createWireIds(MAX_ID_CHARS, findOwnIds(sendable, options.model)) };
  const turns: ChatCompletionMessageParam[] = [];
  let results: ToolResultMessage[] = [];
  for (const message of sendable) {
    if (message.role === "tool_result") {
      turns.push(toResultParam(message, context));
      results.push(message);
      continue;
    }
    addResultImages(turns, results, context);
    results = [];
    if (message.role === "user") addUser(turns, toUserContent(message, options.takesImages));
    else addAssistant(turns, toAssistantParam(message, context));
  }
  addResultImages(turns, results, context);
  if (!wantsAnswer(turns)) addUser(turns, CONTINUE);
  return turns;
}

/** Ids that the model itself gave to its calls; some models are trained on their form. */
function findOwnIds(messages: readonly Message[], model: string): Set<string> {
  const own = messages
    .filter((message) => message.role === "assistant")
    .filter((turn) => turn.model === model);
  return new Set(own.flatMap(toolCallsOf).map(({ id }) => id));
}

function wantsAnswer(turns: readonly ChatCompletionMessageParam[]): boolean {
  const role = turns.at(-1)?.role;
  return role === "user" || role === "tool";
}

function toResultParam(
  message: ToolResultMessage,
  { toWireId, takesImages }: MessageOptions & TurnContext,
): ChatCompletionMessageParam {
  const id = toWireId(message.toolCallId);
  return { role: "tool", tool_call_id: id, content: toResultText(message, takesImages) };
}

function addResultImages(
  turns: ChatCompletionMessageParam[],
  results: readonly ToolResultMessage[],
  { toWireId, takesImages }: MessageOptions & TurnContext,
): void {
  const titled = results.map((result) => ({ result, wireId: toWireId(result.toolCallId) }));
  const content = takesImages ? toImageContent(titled) : undefined;
  if (content) addUser(turns, content);
}

function addUser(turns: ChatCompletionMessageParam[], content: UserContent): void {
  const last = turns.at(-1);
  if (last?.role === "user") last.content = joinContent(last.content, content);
  else turns.push({ role: "user", content });
}

function addAssistant(
  turns: ChatCompletionMessageParam[],
  turn: ChatCompletionMessageParam | undefined,
): void {
  if (!turn) return;
  if (!wantsAnswer(turns)) addUser(turns, CONTINUE);
  turns.push(turn);
}
