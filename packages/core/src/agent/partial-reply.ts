import type { ProviderEvent } from "../provider/types.ts";
import type { AssistantMessage, ContentBlock, StopReason } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import type { MessageDelta } from "./types.ts";

/**
 * An assistant message while it is streamed, for showing it as it grows and for keeping what there was when it breaks
 * off. The provider's own message replaces it in the end. Each change makes a new message, so that an event may hold it.
 */
export class PartialReply {
  message: AssistantMessage;
  private readonly finishedCalls = new Set<string>();
  /** The type of the last block while it may still grow. */
  private open: "text" | "thinking" | undefined;

  constructor(model: string, timestamp: number) {
    this.message = {
      role: "assistant",
      content: [],
      model,
      usage: EMPTY_USAGE,
      stopReason: "end_turn",
      timestamp,
    };
  }

  /** Takes in one event; returns the delta to show, where there is one. */
  apply(event: ProviderEvent): MessageDelta | undefined {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        this.grow(event.type === "text_delta" ? "text" : "thinking", event.delta);
        return event;
      case "text_end":
        this.finish({ type: "text", text: event.text });
        return undefined;
      case "thinking_end": {
        const { thinking, signature } = event;
        this.finish({ type: "thinking", thinking, ...(signature !== undefined && { signature }) });
        return undefined;
      }
      case "tool_call_start":
        this.append({ type: "tool_call", id: event.id, name: event.name, input: {} });
        return undefined;
      case "tool_call_delta":
        return event;
      case "tool_call_end":
        this.finishCall(event);
        return undefined;
      case "usage":
        this.message = { ...this.message, usage: event.usage };
        return undefined;
      default:
        return undefined;
    }
  }

  /** The message as far as it came, without calls whose arguments had not arrived; undefined when there is nothing. */
  brokenOff(stopReason: StopReason): AssistantMessage | undefined {
    const content = this.message.content.filter(
      (block) => block.type !== "tool_call" || this.finishedCalls.has(block.id),
    );
    return content.length > 0 ? { ...this.message, content, stopReason } : undefined;
  }

  private grow(type: "text" | "thinking", delta: string): void {
    const last = this.message.content.at(-1);
    if (this.open === type && last?.type === "text") this.replaceLast({ ...last, text: last.text + delta });
    else if (this.open === type && last?.type === "thinking") {
      this.replaceLast({ ...last, thinking: last.thinking + delta });
    } else {
      this.append(type === "text" ? { type, text: delta } : { type, thinking: delta });
      this.open = type;
    }
  }

  private finish(block: ContentBlock): void {
    if (this.open === block.type) this.replaceLast(block);
    else this.append(block);
    this.open = undefined;
  }

  private finishCall({ id, name, input }: Extract<ProviderEvent, { type: "tool_call_end" }>): void {
    this.finishedCalls.add(id);
    this.message = {
      ...this.message,
      content: this.message.content.map((block) =>
        block.type === "tool_call" && block.id === id ? { type: "tool_call", id, name, input } : block,
      ),
    };
  }

  private append(block: ContentBlock): void {
    this.open = undefined;
    this.message = { ...this.message, content: [...this.message.content, block] };
  }

  private replaceLast(block: ContentBlock): void {
    this.message = { ...this.message, content: [...this.message.content.slice(0, -1), block] };
  }
}
