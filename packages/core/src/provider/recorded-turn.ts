import type { AssistantMessage, Usage } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import type { ProviderError } from "./errors.ts";
import { tellFailure, tellReply, toScriptError } from "./recorded-words.ts";
import type { NumberedTurn } from "./scripted-calls.ts";
import type { ScriptEvent, ScriptReply } from "./scripted-events.ts";
import { toMessageBlocks, toReplyStop } from "./scripted-reply.ts";
import type { ScriptTurn } from "./scripted-schema.ts";
import { stepsOf } from "./scripted-steps.ts";
import { scriptedUsage } from "./scripted-usage.ts";
import { StreamedPieces } from "./streamed-pieces.ts";
import type { ProviderEvent } from "./types.ts";

/**
 * What is streamed of one reply, until it can be told as a turn of a script: in words where playing them gives the very
 * same events, else event by event.
 */
export class RecordedReply {
  private readonly pieces = new StreamedPieces();
  private readonly events: ScriptEvent[] = [];

  /** Passes over what nobody is told of, and what stands around it. */
  note(event: ProviderEvent): void {
    switch (event.type) {
      case "alive":
      case "retry":
      case "done":
      case "error":
        return;
      default:
        this.pieces.note(event);
        this.events.push(event);
    }
  }

  /** The turn of a reply that came to its end, be it an abort. */
  toTurn(message: AssistantMessage): ScriptTurn {
    const reply = toScriptReply(message);
    const turn = tellReply(message, this.streamed);
    const played = playWhole({ turn, callIds: toolCallsOf(message).map(({ id }) => id) });
    const isSame = this.isWhole(played.events) && Bun.deepEquals(played.reply, reply);
    return isSame || !this.hasOwnIds ? turn : { events: this.events, reply };
  }

  /** The turn of a request that failed, with what had come of a reply. */
  toFailedTurn(error: ProviderError): ScriptTurn {
    const turn = tellFailure(error, this.streamed);
    const { events } = playWhole({ turn, callIds: this.pieces.calls.map(({ id }) => id) });
    if (this.isWhole(events) || !this.hasOwnIds) return turn;
    return { events: this.events, error: toScriptError(error) };
  }

  private get streamed() {
    const [, second] = this.events;
    const last = this.events.at(-1);
    return {
      pieces: this.pieces,
      startUsage: usageOf(second),
      endUsage: last === second ? undefined : usageOf(last),
    };
  }

  private isWhole(played: readonly ProviderEvent[]): boolean {
    return Bun.deepEquals(played, this.events);
  }

  /** False where a server has given two calls of one reply the same id: told event by event, no script may have that. */
  private get hasOwnIds(): boolean {
    const ids = this.pieces.calls.map(({ id }) => id);
    return new Set(ids).size === ids.length;
  }
}

function usageOf(event: ScriptEvent | undefined): Usage | undefined {
  return event?.type === "usage" ? event.usage : undefined;
}

/** Everything that a turn comes to when nobody interrupts it. */
function playWhole(numbered: NumberedTurn): {
  events: ProviderEvent[];
  reply: Omit<AssistantMessage, "role" | "model" | "timestamp">;
} {
  const { turn } = numbered;
  const steps = [...stepsOf(numbered, 0)];
  const events = steps.flatMap((step) => ("event" in step ? [step.event] : []));
  const content = toMessageBlocks(steps.flatMap((step) => ("block" in step ? [step.block] : [])));
  const usage = scriptedUsage(turn.usage, 0, content);
  const end: ProviderEvent[] = turn.usage ? [{ type: "usage", usage }] : [];
  return { events: [...events, ...end], reply: { content, usage, ...toReplyStop(turn) } };
}

function toScriptReply({ content, usage, stopReason, rawStopReason }: AssistantMessage): ScriptReply {
  return {
    // No model answers with an image.
    content: content.filter((block) => block.type !== "image"),
    usage,
    stopReason,
    ...(rawStopReason !== undefined && { rawStopReason }),
  };
}
