import type { SteeredMessage } from "../agent/types.ts";
import { now } from "../infrastructure/clock.ts";
import { promptText, type UserMessage } from "../types.ts";

/** What the user sent while a run is going on, until it joins that before a model request. */
export class SteeringQueue {
  private waiting: SteeredMessage[] = [];
  private added = 0;

  /**
   * Returns what the message's `steering` event names it by.
   * @param isNote true for what has happened already and is only told: it cannot be taken back.
   */
  add(content: UserMessage["content"], { isNote = false } = {}): string {
    this.added += 1;
    const id = `steering-${this.added}`;
    const message: UserMessage = { role: "user", content, timestamp: now() };
    this.waiting.push({ message, id, ...(isNote && { isNote }) });
    return id;
  }

  /** Hands out all that waits, oldest first; it has joined then. */
  take(): SteeredMessage[] {
    return this.waiting.splice(0);
  }

  /** Takes the last message, or all of them, out again; what the user wrote in them returns, oldest first. */
  takeBack(which: "last" | "all"): string[] {
    const prompts = this.waiting.filter(({ isNote }) => !isNote);
    const taken = new Set(prompts.slice(which === "last" ? -1 : 0));
    this.waiting = this.waiting.filter((each) => !taken.has(each));
    return [...taken].map(({ message }) => promptText(message));
  }
}
