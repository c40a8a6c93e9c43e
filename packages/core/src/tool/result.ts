import { EMPTY_OUTPUT, isBlank } from "../history.ts";
import { now } from "../infrastructure/runtime.ts";
import type { ToolCallBlock, ToolCallOutcome, ToolResultMessage } from "../types.ts";
import type { ToolRegistry } from "./registry.ts";
import type { KeepOutput, Tool, ToolResult } from "./types.ts";

type KeptPart = NonNullable<Tool["keep"]>;

// Shorter durations are not shown.
const MIN_SHOWN_MS = 1_000;

/** Adds the duration to a result, from one second up; a duration that the tool measured itself is kept. */
export function withDuration(result: ToolResult, durationMs: number): ToolResult {
  if (durationMs < MIN_SHOWN_MS) return result;
  return { ...result, metadata: { durationMs: Math.round(durationMs), ...result.metadata } };
}

/** Truncates a result to the part that is useful to the model; the complete output is saved if possible. */
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
  const output = keep === "tail" ? `${note}\n${text}` : `${text}\n${note}`;
  const metadata = { ...result.metadata, ...(path !== undefined && { outputPath: path }) };
  return { ...result, output: withNote(output, result.note), metadata };
}

/** A failure to save the file must not lose the result. */
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

/** Puts a replaced command or argument first, since the rest may be truncated. */
export function withPreface(
  result: ToolResult,
  { input }: ToolCallBlock,
  ranWith: Record<string, unknown> | undefined,
): ToolResult {
  if (ranWith === undefined) return result;
  const output = isBlank(result.output) ? EMPTY_OUTPUT : result.output;
  return { ...result, output: `${describeRevision(input, ranWith)}\n${output}` };
}

// A user rarely types a longer command; most of a longer one is the model's.
const MAX_SHOWN_CHARS = 8_000;

type Input = Record<string, unknown>;

/** True when both contain the same arguments, in any order. */
export function isSameInput(left: Input, right: Input): boolean {
  return Bun.deepEquals(left, right, true);
}

/**
 * The note before a result for the model when the call ran with changed arguments. A single changed text is quoted,
 * everything else is JSON.
 */
export function describeRevision(before: Input, after: Input): string {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !Bun.deepEquals(before[name], after[name], true),
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

// For an exit code, counts or a path: longer metadata, such as a diff, would make session files large.
const MAX_TEXT_CHARS = 300;
const MAX_FACTS = 16;

/** The message that answers `call`. `outcome` applies to errors; by default `failed`. */
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
    ...(result.foundTools && result.foundTools.length > 0 && { foundTools: result.foundTools }),
    timestamp: now(),
  };
}

function toFact([name, value]: [string, unknown]): [string, string | number | boolean][] {
  if (typeof value === "boolean") return [[name, value]];
  if (typeof value === "number") return Number.isFinite(value) ? [[name, value]] : [];
  return typeof value === "string" && value.length <= MAX_TEXT_CHARS ? [[name, value]] : [];
}

/** Both limits apply to every tool's output, in addition to the tool's own limits. */
const MAX_OUTPUT_LINES = 2_000;
/** In UTF-8. 50 KB is about 13k tokens: above that, two results crowd the task out of a small window. */
export const MAX_OUTPUT_BYTES = 50 * 1024;

/** `text` excludes the note about the omitted part; see `truncationNote`. */
interface TruncatedOutput {
  text: string;
  /** The omitted amount, for the note that follows; undefined when nothing was omitted. */
  omitted?: { shownLines: number; totalLines: number; totalBytes: number };
}

/**
 * Truncates an output to `MAX_OUTPUT_LINES` or `MAX_OUTPUT_BYTES`, whichever is reached first, never inside a
 * character.
 */
export function truncateOutput(output: string, keep: KeptPart = "head"): TruncatedOutput {
  const totalBytes = Buffer.byteLength(output);
  const totalLines = countLines(output);
  if (totalBytes <= MAX_OUTPUT_BYTES && totalLines <= MAX_OUTPUT_LINES) return { text: output };
  const text = keep === "both" ? keepBothEnds(output) : keepEnd(output, keep, 1);
  return { text, omitted: { shownLines: countLines(text), totalLines, totalBytes } };
}

/** The line that tells the model how much is missing and where the complete output is. */
export function truncationNote(
  { shownLines, totalLines, totalBytes }: NonNullable<TruncatedOutput["omitted"]>,
  keep: KeptPart,
  path: string | undefined,
): string {
  const which = keep === "both" ? "first and last" : keep === "head" ? "first" : "last";
  const shown =
    totalLines > shownLines ? `${which} ${shownLines} of ${totalLines} lines` : `the ${which} part`;
  const where = path === undefined ? "" : ` Complete output: ${path}`;
  return `[Output truncated: ${shown} shown, ${Math.ceil(totalBytes / 1024)} KB in total.${where}]`;
}

const HEAD_SHARE = 0.7;

function keepBothEnds(output: string): string {
  const [head, tail] = [keepEnd(output, "head", HEAD_SHARE), keepEnd(output, "tail", 1 - HEAD_SHARE)];
  return `${head}\n[…]\n${tail}`;
}

/** @param share of both limits. */
function keepEnd(output: string, keep: "head" | "tail", share: number): string {
  return keepBytes(keepLines(output, keep, MAX_OUTPUT_LINES * share), keep, MAX_OUTPUT_BYTES * share);
}

function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

function keepLines(text: string, keep: "head" | "tail", maxLines: number): string {
  const lines = text.split("\n");
  if (lines.length <= maxLines) return text;
  const kept = keep === "head" ? lines.slice(0, maxLines) : lines.slice(-maxLines);
  return kept.join("\n");
}

function keepBytes(text: string, keep: "head" | "tail", limit: number): string {
  const maxBytes = Math.floor(limit);
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  if (keep === "head") {
    let end = maxBytes;
    while (isContinuation(bytes[end])) end--;
    return bytes.subarray(0, end).toString();
  }
  let start = bytes.length - maxBytes;
  while (isContinuation(bytes[start])) start++;
  return bytes.subarray(start).toString();
}

/** The second to fourth bytes of a UTF-8 character have the bits 10xxxxxx. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
