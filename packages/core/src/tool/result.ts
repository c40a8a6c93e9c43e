import { isDeepStrictEqual } from "node:util";
import { EMPTY_OUTPUT, isBlank } from "../history.ts";
import { now } from "../infrastructure/runtime.ts";
import type { ToolCallBlock, ToolCallOutcome, ToolResultMessage } from "../types.ts";
import type { ToolRegistry } from "./registry.ts";
import type { KeepOutput, ToolResult } from "./types.ts";

// Shorter durations are not worth showing.
const MIN_TOLD_MS = 1_000;

/** A result that says how long it took, from one second up; a duration that the tool measured itself is kept. */
export function withDuration(result: ToolResult, durationMs: number): ToolResult {
  if (durationMs < MIN_TOLD_MS) return result;
  return { ...result, metadata: { durationMs: Math.round(durationMs), ...result.metadata } };
}

/** Truncates a result to what is useful to the model; the whole of it is saved if possible. */
export function truncateResult(
  result: ToolResult,
  {
    call,
    registry,
    keepOutput,
  }: { call: ToolCallBlock; registry: ToolRegistry; keepOutput?: KeepOutput | undefined },
): ToolResult {
  const keep = registry.find(call.name)?.keep ?? "head";
  const { text, omitted } = truncateOutput(result.output, keep);
  if (!omitted) return { ...result, output: withNote(result.output, result.note) };
  const path = keepWhole(() => keepOutput?.(call.id, result.output));
  const note = truncationNote(omitted, keep, path);
  const output = keep === "head" ? `${text}\n${note}` : `${note}\n${text}`;
  const metadata = { ...result.metadata, ...(path !== undefined && { outputPath: path }) };
  return { ...result, output: withNote(output, result.note), metadata };
}

/** A result matters more than the file it could not be saved in. */
function keepWhole(keep: () => string | undefined): string | undefined {
  try {
    return keep();
  } catch {
    // The note then names no file.
    return undefined;
  }
}

function withNote(output: string, note: string | undefined): string {
  return note === undefined ? output : `${output}\n${note}`;
}

/** A replaced command or argument is reported first, whatever was cut from the rest. */
export function withPreface(
  result: ToolResult,
  { input }: ToolCallBlock,
  ranWith: Record<string, unknown> | undefined,
): ToolResult {
  if (ranWith === undefined) return result;
  const output = isBlank(result.output) ? EMPTY_OUTPUT : result.output;
  return { ...result, output: `${describeRevision(input, ranWith)}\n${output}` };
}

// A command typed by a person is rarely longer; a longer one was mostly written by the model.
const MAX_SHOWN_CHARS = 8_000;

type Input = Record<string, unknown>;

/** True where both hold the same arguments, in whatever order. */
export function isSameInput(left: Input, right: Input): boolean {
  return isDeepStrictEqual(left, right);
}

/**
 * For the model, in front of its call's result: that other arguments ran than it asked for, and which. A single
 * changed text is given as it is, everything else as JSON.
 */
export function describeRevision(before: Input, after: Input): string {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  const [only] = changed;
  const text = changed.length === 1 && only !== undefined ? after[only] : undefined;
  if (typeof text !== "string") return notify("arguments", JSON.stringify(after));
  return notify(only ?? "arguments", text);
}

function notify(name: string, text: string): string {
  const left = text.length - MAX_SHOWN_CHARS;
  const shown =
    left > 0 ? `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}\n[${left} more characters of it]` : text;
  return `The user changed the ${name} before it ran to:${shown.includes("\n") ? "\n" : " "}${shown}\n`;
}

// An exit code, counts, a path: anything else a tool shows, such as a diff, would make session files large.
const MAX_TEXT_CHARS = 300;
const MAX_FACTS = 16;

/** The message that answers `call`. `outcome` is that of an error; `failed` when left out. */
export function toToolResultMessage(
  call: ToolCallBlock,
  result: ToolResult,
  outcome: ToolCallOutcome = "failed",
): ToolResultMessage {
  const facts = Object.entries(result.metadata ?? {})
    .flatMap(toFact)
    .slice(0, MAX_FACTS);
  return {
    role: "tool_result",
    toolCallId: call.id,
    toolName: call.name,
    output: isBlank(result.output) ? EMPTY_OUTPUT : result.output,
    ...(result.images && result.images.length > 0 && { images: result.images }),
    isError: result.isError ?? false,
    ...(result.isError && { outcome }),
    ...(facts.length > 0 && { metadata: Object.fromEntries(facts) }),
    timestamp: now(),
  };
}

function toFact([name, value]: [string, unknown]): [string, string | number | boolean][] {
  if (typeof value === "boolean") return [[name, value]];
  if (typeof value === "number") return Number.isFinite(value) ? [[name, value]] : [];
  return typeof value === "string" && value.length <= MAX_TEXT_CHARS ? [[name, value]] : [];
}

/** Both limits apply to every tool's output, whatever the tool truncates itself. */
const MAX_OUTPUT_LINES = 2_000;
/** In UTF-8. 50 KB is about 13k tokens: above that, two results crowd the task out of a small window. */
export const MAX_OUTPUT_BYTES = 50 * 1024;

/** `text` is without the note about what was left out; see `truncationNote`. */
interface TruncatedOutput {
  text: string;
  /** What was left out, for the note that follows; undefined when nothing was. */
  omitted?: { shownLines: number; totalLines: number; totalBytes: number };
}

/** Cuts an output to `MAX_OUTPUT_LINES` or `MAX_OUTPUT_BYTES`, whichever comes first, never inside a character. */
export function truncateOutput(output: string, keep: "head" | "tail" = "head"): TruncatedOutput {
  const totalBytes = Buffer.byteLength(output);
  const totalLines = countLines(output);
  if (totalBytes <= MAX_OUTPUT_BYTES && totalLines <= MAX_OUTPUT_LINES) return { text: output };
  const text = keepBytes(keepLines(output, keep), keep);
  return { text, omitted: { shownLines: countLines(text), totalLines, totalBytes } };
}

/** The line that tells the model what is missing and where the rest is. */
export function truncationNote(
  { shownLines, totalLines, totalBytes }: NonNullable<TruncatedOutput["omitted"]>,
  keep: "head" | "tail",
  path: string | undefined,
): string {
  const which = keep === "head" ? "first" : "last";
  const shown =
    totalLines > shownLines ? `${which} ${shownLines} of ${totalLines} lines` : `the ${which} part`;
  const where = path === undefined ? "" : ` Whole output: ${path}`;
  return `[Output cut: ${shown} shown, ${Math.ceil(totalBytes / 1024)} KB in all.${where}]`;
}

function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

function keepLines(text: string, keep: "head" | "tail"): string {
  const lines = text.split("\n");
  if (lines.length <= MAX_OUTPUT_LINES) return text;
  const kept = keep === "head" ? lines.slice(0, MAX_OUTPUT_LINES) : lines.slice(-MAX_OUTPUT_LINES);
  return kept.join("\n");
}

function keepBytes(text: string, keep: "head" | "tail"): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_OUTPUT_BYTES) return text;
  if (keep === "head") {
    let end = MAX_OUTPUT_BYTES;
    while (isContinuation(bytes[end])) end--;
    return bytes.subarray(0, end).toString();
  }
  let start = bytes.length - MAX_OUTPUT_BYTES;
  while (isContinuation(bytes[start])) start++;
  return bytes.subarray(start).toString();
}

/** The second to fourth bytes of a UTF-8 character have the bits 10xxxxxx. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
