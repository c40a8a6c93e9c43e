import { asRecord, asString } from "../../src/provider/wire-format.ts";
import { isServerBlock, type WireBlock, type WireMessage } from "./anthropic-wire-blocks.ts";

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const CALL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** What the API refuses about tool calls and their results, over all messages. */
export function checkToolPairs(messages: readonly WireMessage[], toolCount: number): string[] {
  const calls = messages.flatMap(({ blocks }) => blocks.filter(({ type }) => type === "tool_use"));
  const ids = calls.map(({ id }) => asString(id));
  const usesTools = messages.some(({ blocks }) =>
    blocks.some(({ type }) => /^tool_(use|result)$/.test(type)),
  );
  return [
    ...(usesTools && toolCount === 0 ? ["tools: required when messages hold tool_use or tool_result"] : []),
    ...(new Set(ids).size === ids.length ? [] : ["tool_use: ids must be unique"]),
    ...calls.flatMap(checkCall),
    ...messages.flatMap((message, index) => checkAnswers(message, messages[index + 1])),
    ...messages.flatMap((message, index) => checkResults(message, messages[index - 1])),
    ...checkServerTools(messages),
  ];
}

function checkCall({ id, name, input }: WireBlock): string[] {
  return [
    ...(CALL_ID.test(asString(id)) ? [] : [`tool_use: id ${id} does not match the pattern`]),
    ...(CALL_NAME.test(asString(name)) ? [] : [`tool_use: name ${name} does not match the pattern`]),
    ...(asRecord(input) === input ? [] : ["tool_use: input must be an object"]),
  ];
}

/** Every call of an assistant message is answered in the very next message. */
function checkAnswers({ role, blocks, path }: WireMessage, next: WireMessage | undefined): string[] {
  if (role !== "assistant") return [];
  const answered = resultIds(next);
  return blocks.flatMap(({ type, id }) =>
    type === "tool_use" && !answered.includes(asString(id))
      ? [`${path}: tool_use ${id} without tool_result immediately after`]
      : [],
  );
}

/** Every result answers a call of the message before, once, and stands before any other content. */
function checkResults(message: WireMessage, previous: WireMessage | undefined): string[] {
  const called = (previous?.role === "assistant" ? previous.blocks : [])
    .filter(({ type }) => type === "tool_use")
    .map(({ id }) => asString(id));
  const ids = resultIds(message);
  const firstOther = message.blocks.findIndex(({ type }) => type !== "tool_result");
  const lastResult = message.blocks.findLastIndex(({ type }) => type === "tool_result");
  return [
    ...ids.flatMap((id) => (called.includes(id) ? [] : [`${message.path}: unexpected tool_result ${id}`])),
    ...(new Set(ids).size === ids.length ? [] : [`${message.path}: several results for one tool_use`]),
    ...(firstOther >= 0 && firstOther < lastResult
      ? [`${message.path}: tool_result blocks must come first`]
      : []),
  ];
}

function resultIds(message: WireMessage | undefined): string[] {
  return (message?.blocks ?? [])
    .filter(({ type }) => type === "tool_result")
    .map(({ tool_use_id }) => asString(tool_use_id));
}

/** A server tool's call has a result, unless nothing but our own results came after it; no result lacks its call. */
function checkServerTools(messages: readonly WireMessage[]): string[] {
  const lastUser = messages.findLastIndex(
    ({ role, blocks }) => role === "user" && blocks.some(({ type }) => type !== "tool_result"),
  );
  const blocks = messages.flatMap((message, index) =>
    message.blocks.filter(isServerBlock).map((block) => ({ block, isOpen: index > lastUser })),
  );
  const called = blocks.map(({ block }) => asString(block.id));
  const answered = blocks.map(({ block }) => asString(block.tool_use_id));
  return blocks.flatMap(({ block, isOpen }) => {
    if (block.type.endsWith("_result")) {
      return called.includes(asString(block.tool_use_id)) ? [] : [`${block.type} without its call`];
    }
    return isOpen || answered.includes(asString(block.id)) ? [] : [`${block.type} without its result`];
  });
}
