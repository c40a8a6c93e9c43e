import type { AgentEvent } from "../../agent/types.ts";
import type { Model, StreamContext, StreamOptions } from "../../provider/types.ts";

/**
 * What a replay cannot repeat: the time at which a message was made, how long something took, and the place in the program
 * where an error that is a bug was thrown.
 */
export const UNHASHED_FIELDS: ReadonlySet<string> = new Set(["timestamp", "durationMs", "stack"]);

const HASH_CHARACTERS = 16;

/** 16 hexadecimal digits: the hash of an event without `UNHASHED_FIELDS`, and of a `message_delta` without its message. */
export function hashEvent(event: AgentEvent): string {
  return hashJson(withoutGrowing(event));
}

/** The same for a request, so that a replay notices a model being asked something else. */
export function hashRequest(
  { id, provider }: Model,
  { systemPrompt, messages, tools }: StreamContext,
  { purpose, maxTokens, effort }: StreamOptions,
): string {
  return hashJson({ id, provider, systemPrompt, messages, tools, purpose, maxTokens, effort });
}

/** The message grows with each piece: it is the sum of the pieces, and `message_end` has all of it. */
export function withoutGrowing(event: AgentEvent): object {
  if (event.type === "agent_event") return { ...event, event: withoutGrowing(event.event) };
  if (event.type !== "message_delta") return event;
  const { message: _, ...piece } = event;
  return piece;
}

/** The hash of all events so far, and how many they are. */
export class EventHashes {
  count = 0;
  private readonly hasher = new Bun.CryptoHasher("sha256");

  add(hash: string): void {
    this.count++;
    this.hasher.update(hash);
  }

  digest(): string {
    return this.hasher.copy().digest("hex").slice(0, HASH_CHARACTERS);
  }
}

function hashJson(value: object): string {
  const json = JSON.stringify(value, (key, field: unknown) =>
    UNHASHED_FIELDS.has(key) || holdsNothingElse(field) ? undefined : field,
  );
  return new Bun.CryptoHasher("sha256").update(json).digest("hex").slice(0, HASH_CHARACTERS);
}

/** True for the metadata of a call that has taken so long that its duration is shown. */
function holdsNothingElse(field: unknown): boolean {
  if (typeof field !== "object" || field === null || Array.isArray(field)) return false;
  const keys = Object.keys(field);
  return keys.length > 0 && keys.every((key) => UNHASHED_FIELDS.has(key));
}
