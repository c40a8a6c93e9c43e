import type { AssistantMessage, Message } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import { ProviderError } from "./errors.ts";
import type { NumberedScript, NumberedTurn } from "./scripted-calls.ts";
import type { Script, ScriptTurn } from "./scripted-schema.ts";

/** Takes the next turn for a request with these messages; an error when the script has none left. */
export type TakeTurn = (
  messages: readonly Message[],
  purpose: "summary" | undefined,
) => NumberedTurn | ProviderError;

/** Where playing begins; see `ScriptedOptions`. */
export interface ScriptStart {
  startAtTurn?: number | undefined;
  startAtSummary?: number | undefined;
}

/** Without `startAtTurn` it begins where the messages of the first request have come to. */
export function createTurnSource(
  { turns, summaries }: NumberedScript,
  { startAtTurn, startAtSummary = 0 }: ScriptStart = {},
): TakeTurn {
  let turnIndex = startAtTurn;
  let summaryIndex = startAtSummary;
  return (messages, purpose) => {
    if (purpose === "summary" && summaries) {
      return summaries[summaryIndex++] ?? scriptEnded(`summary ${summaries.length}`);
    }
    turnIndex ??= findStartTurn(
      turns.map(({ turn }) => turn),
      messages,
    );
    const numbered = turns[turnIndex++];
    return numbered ? withFreshIds(numbered, messages) : scriptEnded(`turn ${turns.length}`);
  };
}

/**
 * The index of the turn where a script goes on for a conversation: behind as many turns as it holds replies. Turns
 * that are an `error`, and what such a one left of a reply, do not count.
 */
export function findStartTurn(turns: readonly ScriptTurn[], messages: readonly Message[]): number {
  const replies = assistantMessages(messages).filter((message) => !isBrokenOff(message)).length;
  if (replies === 0) return 0;
  let passed = 0;
  const last = turns.findIndex((turn) => !turn.error && ++passed === replies);
  return last < 0 ? turns.length : last + 1;
}

/**
 * Where a script goes on for a session whose requests no longer hold all of it, since its older part was summarised.
 * @param messages the whole conversation.
 * @param summaries how often it was summarised.
 */
export function findStart(
  script: Script,
  { messages, summaries }: { messages: readonly Message[]; summaries: number },
): ScriptStart {
  const turn = findStartTurn(script.turns, messages);
  if (script.summaries) return { startAtTurn: turn, startAtSummary: summaries };
  return { startAtTurn: turn + summaries };
}

function isBrokenOff({ stopReason, rawStopReason }: AssistantMessage): boolean {
  return stopReason === "error" && rawStopReason === undefined;
}

/** A conversation that began with another script may hold the very ids that are to be given now. */
function withFreshIds({ turn, callIds }: NumberedTurn, messages: readonly Message[]): NumberedTurn {
  if (callIds.length === 0) return { turn, callIds };
  const used = new Set(
    assistantMessages(messages).flatMap((message) => toolCallsOf(message).map(({ id }) => id)),
  );
  const fresh = callIds.map((id, index) => {
    if (turn.toolCalls?.[index]?.id !== undefined) return id;
    let candidate = id;
    for (let count = 2; used.has(candidate); count++) candidate = `${id}_${count}`;
    return candidate;
  });
  return { turn, callIds: fresh };
}

function assistantMessages(messages: readonly Message[]): AssistantMessage[] {
  return messages.filter((message) => message.role === "assistant");
}

function scriptEnded(where: string): ProviderError {
  return new ProviderError(`script ended at ${where}`, "invalid_request");
}
