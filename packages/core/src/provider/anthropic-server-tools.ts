import type { AssistantMessage, Message, OpaqueBlock } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import { ANTHROPIC } from "./anthropic-blocks.ts";
import { asRecord, asString } from "./json-value.ts";

/**
 * The opaque blocks that cannot go back: a call of a tool that the provider runs without its result, as a cut leaves
 * it, or such a result without its call. A call that the provider has not answered yet, because it paused or waits
 * for our results, stays.
 */
export function findUnpairedServerBlocks(messages: readonly Message[]): ReadonlySet<OpaqueBlock> {
  const blocks = messages.flatMap((message) => (message.role === "assistant" ? opaqueBlocksOf(message) : []));
  const callIds = new Set(blocks.map(serverCallId));
  const answeredIds = new Set(blocks.map(serverResultId));
  const openBlocks = new Set(openTurnBlocks(messages));
  const unpaired = blocks.filter((block) => {
    const callId = serverCallId(block);
    if (callId) return !answeredIds.has(callId) && !openBlocks.has(block);
    const resultId = serverResultId(block);
    return resultId !== undefined && !callIds.has(resultId);
  });
  return new Set(unpaired);
}

/** True when the provider stopped in the middle of its own tools and wants to be asked again with the same content. */
export function isPaused({ stopReason, rawStopReason }: AssistantMessage): boolean {
  return stopReason === "tool_use" && rawStopReason === "pause_turn";
}

function isPending(reply: AssistantMessage): boolean {
  return isPaused(reply) || (reply.stopReason === "tool_use" && toolCallsOf(reply).length > 0);
}

/** True when a call of the message is among those that cannot go back, so that the provider has nothing to go on with. */
export function leavesOutServerCall(message: AssistantMessage, unpaired: ReadonlySet<OpaqueBlock>): boolean {
  return opaqueBlocksOf(message).some((block) => unpaired.has(block) && serverCallId(block) !== undefined);
}

/** The opaque blocks of the turn that goes on, in which the provider may still answer its calls. */
function openTurnBlocks(messages: readonly Message[]): OpaqueBlock[] {
  const turn = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1);
  const replies = turn.filter((message) => message.role === "assistant");
  const lastEnd = replies.findLastIndex((reply) => !isPending(reply));
  return replies.slice(lastEnd + 1).flatMap(opaqueBlocksOf);
}

function opaqueBlocksOf(message: AssistantMessage): OpaqueBlock[] {
  return message.content
    .filter((block) => block.type === "opaque")
    .filter(({ provider }) => provider === ANTHROPIC);
}

function serverCallId({ raw }: OpaqueBlock): string | undefined {
  const { type, id } = asRecord(raw);
  return asString(type).endsWith("_tool_use") ? asString(id) : undefined;
}

function serverResultId({ raw }: OpaqueBlock): string | undefined {
  const { type, tool_use_id } = asRecord(raw);
  return asString(type).endsWith("_tool_result") ? asString(tool_use_id) : undefined;
}
