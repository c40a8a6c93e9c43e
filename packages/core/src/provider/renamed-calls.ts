import type { ScriptTurn } from "./scripted-schema.ts";

/** A turn that is told event by event. */
export type StreamedTurn = ScriptTurn & { events: NonNullable<ScriptTurn["events"]> };

/** Such a turn with other ids for its calls, wherever they stand. @param rename is asked once for each id. */
export function renameStreamedCalls(turn: StreamedTurn, rename: (id: string) => string): StreamedTurn {
  const ids = new Map<string, string>();
  const named = <T extends { id: string }>(call: T): T => {
    const id = ids.get(call.id) ?? rename(call.id);
    ids.set(call.id, id);
    return { ...call, id };
  };
  const { events, reply } = turn;
  return {
    ...turn,
    events: events.map((event) => ("id" in event ? named(event) : event)),
    ...(reply && {
      reply: {
        ...reply,
        content: reply.content.map((block) => (block.type === "tool_call" ? named(block) : block)),
      },
    }),
  };
}
