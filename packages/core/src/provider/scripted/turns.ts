import { type AssistantMessage, type Message, toolCallsOf } from "../../types.ts";
import { ProviderError } from "../errors.ts";
import type { RequestPurpose } from "../types.ts";
import { type NumberedScript, type NumberedTurn, renameStreamedCalls } from "./reply.ts";
import { MAX_CALL_ID_CHARS, type Script, type ScriptTurn } from "./script.ts";

/** Takes the next turn for a request with these messages; an error if the script has none left. */
export type TakeTurn = (
  messages: readonly Message[],
  purpose: RequestPurpose | undefined,
) => NumberedTurn | ProviderError;

/** Where playing begins, for `ScriptedOptions`: indices from 0. */
export interface ScriptStart {
  /** By default, the turn that the messages of the first request have reached. */
  startAtTurn?: number | undefined;
  /** By default, the first one. */
  startAtSummary?: number | undefined;
}

/** Without `startAtTurn`, begins at the turn that the messages of the first request have reached. */
export function createTurnSource(
  { turns, summaries, isRecording }: NumberedScript,
  { startAtTurn, startAtSummary = 0 }: ScriptStart = {},
): TakeTurn {
  let turnIndex = startAtTurn;
  let summaryIndex = startAtSummary;
  return (messages, purpose) => {
    if (purpose === "summary" && summaries) {
      return summaries[summaryIndex++] ?? scriptEnded("summary", summaries.length, isRecording);
    }
    turnIndex ??= findStartTurn(
      turns.map(({ turn }) => turn),
      messages,
    );
    if (purpose === "knowledge" && !isRecording && !recordsKnowledge(turns[turnIndex]))
      return NOTHING_TO_RECORD;
    const numbered = turns[turnIndex++];
    return numbered ? withFreshIds(numbered, messages) : scriptEnded("turn", turns.length, isRecording);
  };
}

/** The reply to the request for knowledge, if a handwritten script has none for it. */
const NOTHING_TO_RECORD: NumberedTurn = {
  turn: { text: "none", usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 } },
  callIds: [],
};

/**
 * True for a turn that only calls `add_knowledge`: it may answer that request. Any other turn belongs to the
 * conversation.
 */
function recordsKnowledge(next: NumberedTurn | undefined): boolean {
  const calls = next?.turn.toolCalls ?? [];
  return calls.length > 0 && calls.every(({ name }) => name === "add_knowledge");
}

/**
 * The index of the turn at which a script continues a conversation: the number of replies in the conversation. Turns
 * with an `error`, and the partial reply of such a turn, do not count.
 */
export function findStartTurn(turns: readonly ScriptTurn[], messages: readonly Message[]): number {
  const replies = assistantMessages(messages).filter((message) => !isBrokenOff(message)).length;
  if (replies === 0) return 0;
  let passed = 0;
  const last = turns.findIndex((turn) => !turn.error && ++passed === replies);
  return last < 0 ? turns.length : last + 1;
}

/**
 * Where a script continues a session whose requests no longer contain all of it, because its older part was
 * summarized.
 *
 * @param messages the whole conversation.
 * @param summaries how often it was summarized.
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

/** Renames calls whose ids are already in the conversation, as after a change of script or model. */
function withFreshIds({ turn, callIds }: NumberedTurn, messages: readonly Message[]): NumberedTurn {
  const held = new Set(
    assistantMessages(messages)
      .flatMap(toolCallsOf)
      .map(({ id }) => id),
  );
  if (!callIds.some((id) => held.has(id))) return { turn, callIds };
  const taken = new Set([...held, ...callIds]);
  const fresh = new Map(callIds.map((id) => [id, held.has(id) ? freeId(id, taken) : id]));
  const rename = (id: string) => fresh.get(id) ?? id;
  const { events } = turn;
  // Replies written as events have the call ids inside their events.
  return {
    turn: events ? renameStreamedCalls({ ...turn, events }, rename) : turn,
    callIds: callIds.map(rename),
  };
}

/** The id with the first free number appended; the result is reserved. */
function freeId(id: string, taken: Set<string>): string {
  let count = 2;
  while (taken.has(numbered(id, count))) count++;
  const free = numbered(id, count);
  taken.add(free);
  return free;
}

/** Keeps the id within the maximum length. */
function numbered(id: string, count: number): string {
  const number = `_${count}`;
  return id.slice(0, MAX_CALL_ID_CHARS - number.length) + number;
}

function assistantMessages(messages: readonly Message[]): AssistantMessage[] {
  return messages.filter((message) => message.role === "assistant");
}

function scriptEnded(what: "turn" | "summary", count: number, isRecording: boolean): ProviderError {
  const ended = `script ended at ${what} ${count}`;
  const why = isRecording ? WENT_ANOTHER_WAY : count === 0 && "there is no reply in it";
  return new ProviderError(why ? `${ended}: ${why}` : ended, "invalid_request");
}

const WENT_ANOTHER_WAY =
  "the run requests more replies than were recorded: it differs from the recorded run, or the recording was cut short. " +
  "Replay it with the same prompts and options, in an unchanged copy of the project.";
