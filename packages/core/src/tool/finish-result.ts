import { EMPTY_OUTPUT, isBlank } from "../result-texts.ts";
import type { ToolCallBlock } from "../types.ts";
import type { ToolRegistry } from "./registry.ts";
import { describeRevision } from "./revised-input.ts";
import { truncateOutput, truncationNote } from "./truncation.ts";
import type { KeepOutput, ToolResult } from "./types.ts";

// How long less took is nobody's question.
const MIN_TOLD_MS = 1_000;

/** A result that says how long it took, from a second on; what a tool has measured itself stands. */
export function withDuration(result: ToolResult, durationMs: number): ToolResult {
  if (durationMs < MIN_TOLD_MS) return result;
  return { ...result, metadata: { durationMs: Math.round(durationMs), ...result.metadata } };
}

/** A result of which the model gets so much as is useful to it; the whole of it is kept where that is possible. */
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

/** A result is worth more than the file it could not be kept in. */
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

/** What ran in place of what the model asked for is told first, whatever was cut of the rest. */
export function withPreface(
  result: ToolResult,
  { input }: ToolCallBlock,
  ranWith: Record<string, unknown> | undefined,
): ToolResult {
  if (ranWith === undefined) return result;
  const output = isBlank(result.output) ? EMPTY_OUTPUT : result.output;
  return { ...result, output: `${describeRevision(input, ranWith)}\n${output}` };
}
