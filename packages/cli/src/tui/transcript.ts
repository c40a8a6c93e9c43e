import { readShellNote } from "@diligent/core/interactive";
import {
  type AssistantMessage,
  type Message,
  messageText,
  promptText,
  type SessionEntry,
  type ToolCallOutcome,
  type ToolResultMessage,
  type UserMessage,
} from "@diligent/core/run";
import { describeCompaction, describeWebSearches } from "../print/summary.ts";
import { toEarlierShellCall } from "./shell-call.ts";
import { type Block, notice, type ToolCallView } from "./view.ts";

const SHOWN_TURNS = 3;
// A single turn may have a thousand calls.
const MAX_SHOWN_MESSAGES = 40;

/**
 * The shown part of a resumed conversation: its last turns, and the number of messages above them.
 * @param path its entries from the root on, including summarized ones.
 */
export function toResumedBlocks(path: readonly SessionEntry[], shownTurns = SHOWN_TURNS): Block[] {
  const start = findStart(path, shownTurns);
  const hiddenMessages = path.slice(0, start).filter(({ type }) => type === "message").length;
  const above: Block[] = hiddenMessages === 0 ? [] : [{ type: "resumed", hiddenMessages }];
  const blocks: Block[] = [];
  let messages: Message[] = [];
  for (const entry of path.slice(start)) {
    if (entry.type === "message") messages.push(entry.message);
    const note = noteOf(entry);
    if (note === undefined) continue;
    blocks.push(...toTranscriptBlocks(messages), notice("info", note));
    messages = [];
  }
  return [...above, ...blocks, ...toTranscriptBlocks(messages)];
}

/**
 * Messages as the transcript shows them, each call with its result. Thinking is left out, since only its
 * duration would be shown.
 */
export function toTranscriptBlocks(messages: readonly Message[]): Block[] {
  const results = new Map<string, ToolResultMessage[]>();
  for (const message of messages) {
    if (message.role !== "tool_result") continue;
    results.set(message.toolCallId, [...(results.get(message.toolCallId) ?? []), message]);
  }
  // Some servers give every call the same id; results are then matched with calls in order.
  const takeResult = (id: string) => results.get(id)?.shift();
  return messages.flatMap((message): Block[] => {
    if (message.role === "user") return [userBlock(message)];
    return message.role === "assistant" ? assistantBlocks(message, takeResult) : [];
  });
}

function userBlock(message: UserMessage): Block {
  const note = readShellNote(message);
  if (note) return toEarlierShellCall(note, message.timestamp);
  return { type: "prompt", text: promptText(message) };
}

/** The start of the last turns; never between a call and its result. */
function findStart(path: readonly SessionEntry[], shownTurns: number): number {
  const positions = path.flatMap(({ type }, position) => (type === "message" ? [position] : []));
  const turns = positions.filter((position) => roleAt(path, position) === "user");
  const candidates = [turns.at(-shownTurns) ?? 0, positions.at(-MAX_SHOWN_MESSAGES) ?? 0];
  let start = Math.max(...candidates);
  while (roleAt(path, start) === "tool_result") start++;
  return start;
}

function roleAt(path: readonly SessionEntry[], position: number): Message["role"] | undefined {
  const entry = path[position];
  return entry?.type === "message" ? entry.message.role : undefined;
}

function noteOf(entry: SessionEntry): string | undefined {
  switch (entry.type) {
    case "compaction":
      return describeCompaction(entry);
    case "compaction_undo":
      return "The last summary was undone.";
    case "branch_summary":
      return "The model got a summary of the other branch.";
    case "model_change":
      return `Switched to ${entry.modelId}`;
    default:
      return undefined;
  }
}

function assistantBlocks(
  message: AssistantMessage,
  takeResult: (id: string) => ToolResultMessage | undefined,
): Block[] {
  const text = messageText(message);
  const calls = message.content.flatMap((block): Block[] => {
    if (block.type !== "tool_call") return [];
    const { id, name, input, invalidInput } = block;
    const call = { toolCallId: id, toolName: name, input: invalidInput ?? input };
    return [{ type: "tool", call: withResult(call, message.timestamp, takeResult(id)) }];
  });
  const end = ENDS[message.stopReason];
  const searches = describeWebSearches(message);
  return [
    ...(text.trim() === "" ? [] : [{ type: "answer" as const, markdown: text }]),
    ...(searches === undefined ? [] : [notice("info", searches)]),
    ...calls,
    ...(end === undefined ? [] : [notice("warning", end)]),
  ];
}

const ENDS: Partial<Record<AssistantMessage["stopReason"], string>> = {
  aborted: "stopped here",
  error: "the response failed here",
  max_tokens: "the response was cut off at the model's limit",
};

function withResult(
  call: Pick<ToolCallView, "toolCallId" | "toolName" | "input">,
  startedAt: number,
  result: ToolResultMessage | undefined,
): ToolCallView {
  if (!result) return { ...call, startedAt, result: { ...NO_RESULT, endedAt: startedAt } };
  const { output, isError, input = call.input, timestamp } = result;
  const endedAt = Math.max(startedAt, timestamp);
  return { ...call, input, startedAt, result: { output, isError, ...readEarlierResult(result), endedAt } };
}

const NO_RESULT = {
  output: "No result saved: the session ended while this was running.",
  isError: true,
  outcome: "interrupted",
  metadata: {},
} as const;

type Result = Pick<ToolResultMessage, "output" | "isError" | "toolName" | "outcome" | "metadata">;

const REJECTED = /^(?:The user (?:said no|denied|rejected|stopped)|Refused: )/;
const SKIPPED = /^(?:Not run: |Interrupted: the run was stopped before)/;
const INTERRUPTED = /^(?:Interrupted: the call did not finish|The tool call was interrupted)/;
const EXIT_CODE = /(?:^|\n)\[exit code (\d{1,3})\]\s*$/;
const NOTHING_WRITTEN = /nothing was written\.\s*$/;
// The edit tool's wording: `(line 12)` or `(3 replacements, the first in line 12)`.
const MATCH_LINE = /\((?:line |\d+ replacements, the first in line )(\d+)\)/;

/**
 * The outcome of a saved call. Files from earlier versions record it only in the text for the model, which is
 * parsed for these files alone.
 */
export function readEarlierResult(result: Result): EarlierResult {
  const { output, isError, toolName, outcome, metadata } = result;
  if (isError && outcome === undefined) {
    return { outcome: guessOutcome(output), metadata: guessExitCode(toolName, output) };
  }
  if (isError || metadata) return { ...(outcome && { outcome }), metadata: withoutPath(metadata) };
  return { metadata: guessChange(toolName, output) };
}

interface EarlierResult {
  outcome?: ToolCallOutcome;
  metadata: NonNullable<Result["metadata"]>;
}

/** A session file may come from anybody, so it must not name files that `/result` would read. */
function withoutPath({ outputPath: _, ...metadata }: Result["metadata"] = {}): EarlierResult["metadata"] {
  return metadata;
}

function guessChange(toolName: string, output: string): EarlierResult["metadata"] {
  if (toolName === "edit") return guessMatchLine(output);
  if (toolName !== "write") return {};
  if (output.startsWith("Created ")) return { created: true };
  return NOTHING_WRITTEN.test(output) ? { unchanged: true } : {};
}

function guessOutcome(output: string): ToolCallOutcome {
  if (REJECTED.test(output)) return "rejected";
  if (SKIPPED.test(output)) return "skipped";
  return INTERRUPTED.test(output) ? "interrupted" : "failed";
}

function guessExitCode(toolName: string, output: string): EarlierResult["metadata"] {
  const [, code] = (toolName === "bash" && EXIT_CODE.exec(output)) || [];
  return code === undefined ? {} : { exitCode: Number(code) };
}

function guessMatchLine(output: string): EarlierResult["metadata"] {
  const [, line] = MATCH_LINE.exec(output) ?? [];
  return line === undefined ? {} : { matchLine: Number(line) };
}
