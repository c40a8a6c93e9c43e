import type { StreamContext } from "../provider/types.ts";
import type { Message } from "../types.ts";
import type { PreparedContext } from "./types.ts";

/** What the next request of a run says: the messages so far, behind the system prompt. */
export class RunHistory {
  /** The messages this run added; never shortened. */
  readonly added: Message[] = [];
  private messages: Message[];

  constructor(
    messages: readonly Message[],
    private systemPrompt: string,
  ) {
    this.messages = [...messages];
  }

  /** When the newest message was made, in milliseconds since the epoch; undefined while there is none. */
  get lastTimestamp(): number | undefined {
    return this.messages.at(-1)?.timestamp;
  }

  add(message: Message): void {
    this.messages.push(message);
    this.added.push(message);
  }

  /** Goes on from a shortened context. */
  replace({ messages, systemPrompt }: PreparedContext): void {
    this.messages = [...messages];
    this.systemPrompt = systemPrompt ?? this.systemPrompt;
  }

  toContext(tools: StreamContext["tools"]): StreamContext {
    return { systemPrompt: this.systemPrompt, messages: this.messages, tools };
  }
}
