import type { AssistantMessage, Message, ToolCallBlock, ToolResultMessage } from "../../types.ts";

/** A tool call with its result, and where the two stand. */
export interface AnsweredCall {
  call: ToolCallBlock;
  callIndex: number;
  result: ToolResultMessage;
  resultIndex: number;
}

/** The calls that have one id, in the newest message that has any. */
interface WaitingCalls {
  callIndex: number;
  calls: ToolCallBlock[];
}

/**
 * The calls that have results, in the order of the results. An id may come back in a later message: a result answers
 * the newest call that had it, and each call only once.
 * @param messages what is undefined is passed over; it keeps the positions of what it stands between.
 */
export function pairCalls(messages: readonly (Message | undefined)[]): AnsweredCall[] {
  const waiting = new Map<string, WaitingCalls>();
  const answered: AnsweredCall[] = [];
  for (const [index, message] of messages.entries()) {
    if (message?.role === "assistant") noteCalls(waiting, message, index);
    if (message?.role !== "tool_result") continue;
    const newest = waiting.get(message.toolCallId);
    const call = newest?.calls.shift();
    if (newest && call) {
      answered.push({ call, callIndex: newest.callIndex, result: message, resultIndex: index });
    }
  }
  return answered;
}

/** A careless model may give an id twice in one message. */
function noteCalls(
  waiting: Map<string, WaitingCalls>,
  { content }: AssistantMessage,
  callIndex: number,
): void {
  for (const block of content) {
    if (block.type !== "tool_call") continue;
    const newest = waiting.get(block.id);
    if (newest?.callIndex === callIndex) newest.calls.push(block);
    else waiting.set(block.id, { callIndex, calls: [block] });
  }
}
