import { asRecord, asString } from "../../src/provider/wire-format.ts";

type WireMessage = Record<string, unknown>;

/** What a server refuses about the order of messages, and about calls and results that do not belong together. */
export function checkOrder(messages: readonly WireMessage[]): string[] {
  const ids = messages.flatMap(callIdsOf);
  return [
    ...(messages.length > 0 ? [] : ["messages: at least one is required"]),
    ...messages.flatMap((message, index) => checkPlace(message, messages[index - 1], index)),
    ...messages.flatMap((message, index) => checkResults(message, messages.slice(index + 1), index)),
    ...checkEnd(messages.at(-1)),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `Duplicate tool call id ${id}`),
  ];
}

function callIdsOf({ tool_calls: calls }: WireMessage): string[] {
  return Array.isArray(calls) ? calls.map((call) => asString(asRecord(call).id)) : [];
}

function checkPlace({ role }: WireMessage, before: WireMessage | undefined, index: number): string[] {
  const previous = before?.role;
  if (role === "system") return index === 0 ? [] : [`messages[${index}]: system messages come first`];
  const isFirst = previous === undefined || previous === "system";
  if (role === "assistant" && (isFirst || previous === "assistant")) {
    return [`messages[${index}]: an assistant message has to follow a user's or a result`];
  }
  if (role === "user" && previous === "user") return [`messages[${index}]: user and assistant take turns`];
  const isAnswer = previous === "tool" || (before !== undefined && callIdsOf(before).length > 0);
  if (role !== "tool" || isAnswer) return [];
  return [`messages[${index}]: a tool message has to follow the message with its call`];
}

/** Directly behind a message with calls come their results, each once. */
function checkResults(message: WireMessage, rest: readonly WireMessage[], index: number): string[] {
  const calls = callIdsOf(message);
  if (calls.length === 0) return [];
  const end = rest.findIndex(({ role }) => role !== "tool");
  const results = rest.slice(0, end < 0 ? undefined : end).map((result) => asString(result.tool_call_id));
  return [
    ...calls.flatMap((id) => {
      const count = results.filter((result) => result === id).length;
      return count === 1 ? [] : [`messages[${index}]: ${count} results for call ${id}`];
    }),
    ...results.flatMap((id) => (calls.includes(id) ? [] : [`messages[${index}]: no call for result ${id}`])),
  ];
}

function checkEnd(last: WireMessage | undefined): string[] {
  return last?.role === "user" || last?.role === "tool" ? [] : ["messages: nothing to answer at the end"];
}
