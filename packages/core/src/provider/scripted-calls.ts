import type { Script, ScriptTurn } from "./scripted-schema.ts";

/** A turn with the ids of its tool calls, in order. */
export interface NumberedTurn {
  turn: ScriptTurn;
  callIds: readonly string[];
}

/** Without `summaries`, requests for a summary take from `turns` like all others. */
export interface NumberedScript {
  turns: readonly NumberedTurn[];
  summaries: readonly NumberedTurn[] | undefined;
  /** True for what was recorded, which says how a run went. */
  isRecording: boolean;
}

/**
 * Gives each tool call of a script its id: the script's own, else `call_N`, where N counts the tool calls of the whole
 * script from 1, those of the summaries last. So a session that is resumed in mid script goes on with the same ids.
 */
export function numberToolCalls({ turns, summaries, conditions }: Script): NumberedScript {
  let count = 0;
  const number = (turn: ScriptTurn): NumberedTurn => {
    if (turn.events) return { turn, callIds: idsOf(turn) };
    const callIds = (turn.toolCalls ?? []).map(({ id }) => {
      count++;
      return id ?? `call_${count}`;
    });
    return { turn, callIds };
  };
  return {
    turns: turns.map(number),
    summaries: summaries?.map(number),
    isRecording: conditions !== undefined,
  };
}

function idsOf({ events = [] }: ScriptTurn): string[] {
  return events.flatMap((event) => (event.type === "tool_call_start" ? [event.id] : []));
}
