import type { SessionEntry } from "./types.ts";

/** How many messages a session has and when it was changed last, counted entry by entry in the order of the file. */
export class EntryTally {
  private messages = 0;
  private lastMessageId: string | undefined;
  private lastChange: Date | undefined;

  get messageCount(): number {
    return this.messages;
  }

  /** Undefined while no entry had a date that can be read. */
  get modified(): Date | undefined {
    return this.lastChange;
  }

  /** Counts an entry that is a message. */
  addMessage({ id, timestamp }: Pick<SessionEntry, "id" | "timestamp">): void {
    // A line whose newline could not be written is written twice.
    if (id !== this.lastMessageId) this.messages++;
    this.lastMessageId = id;
    this.addChange(timestamp);
  }

  /** Notes when any other entry was added. */
  addChange(timestamp: string): void {
    this.lastChange = toDate(timestamp) ?? this.lastChange;
  }
}

/** Undefined for what is no date. */
export function toDate(timestamp: string): Date | undefined {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
