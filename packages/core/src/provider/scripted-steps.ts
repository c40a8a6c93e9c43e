import type { ContentBlock } from "../types.ts";
import type { NumberedTurn } from "./scripted-calls.ts";
import type { ScriptEvent } from "./scripted-events.ts";
import { isStreamed, type StreamedPart, splitBySizes, toReplyParts } from "./scripted-reply.ts";
import { scriptedUsage } from "./scripted-usage.ts";
import type { ProviderEvent } from "./types.ts";

/** What a turn does next: something is streamed, or a block of the reply is whole. */
export type PlayedStep = { event: ProviderEvent } | { block: ContentBlock };

/**
 * A turn step by step, up to its end; nothing for a request that fails at once, as with an overloaded server.
 * @param requestTokens what stands for the input where the turn does not say it.
 */
export function* stepsOf(numbered: NumberedTurn, requestTokens: number): Generator<PlayedStep> {
  const { turn } = numbered;
  if (turn.events) {
    for (const event of turn.events) yield* stepsOfEvent(event);
    return;
  }
  const parts = toReplyParts(numbered);
  if (turn.error && parts.length === 0 && !turn.startUsage) return;
  yield { event: { type: "start" } };
  if (turn.startUsage)
    yield { event: { type: "usage", usage: scriptedUsage(turn.startUsage, requestTokens, []) } };
  const sizes = (turn.chunks ?? []).values();
  for (const part of parts) {
    if (isStreamed(part)) yield* stepsOfPart(part, splitBySizes(part.streamed, sizes, turn.chunkChars));
    yield { block: part.block };
  }
}

function* stepsOfPart({ block }: StreamedPart, chunks: Iterable<string>): Generator<PlayedStep> {
  if (block.type === "tool_call")
    yield { event: { type: "tool_call_start", id: block.id, name: block.name } };
  for (const chunk of chunks) yield { event: deltaEvent(block, chunk) };
  yield { event: endEvent(block) };
}

function deltaEvent(block: StreamedPart["block"], delta: string): ProviderEvent {
  if (block.type === "tool_call") return { type: "tool_call_delta", id: block.id, delta };
  return block.type === "text" ? { type: "text_delta", delta } : { type: "thinking_delta", delta };
}

function endEvent(block: StreamedPart["block"]): ProviderEvent {
  switch (block.type) {
    case "text":
      return { type: "text_end", text: block.text };
    case "thinking": {
      const { thinking, signature } = block;
      return { type: "thinking_end", thinking, ...(signature !== undefined && { signature }) };
    }
    case "tool_call":
      return { type: "tool_call_end", id: block.id, name: block.name, input: block.input };
  }
}

function* stepsOfEvent(event: ScriptEvent): Generator<PlayedStep> {
  yield { event };
  if (event.type === "text_end") yield { block: { type: "text", text: event.text } };
  if (event.type === "thinking_end") {
    const { type: _, ...thinking } = event;
    yield { block: { type: "thinking", ...thinking } };
  }
  if (event.type === "tool_call_end") {
    const { type: _, ...call } = event;
    yield { block: { type: "tool_call", ...call } };
  }
}
