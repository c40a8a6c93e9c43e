import type { ToolCallOutcome, ToolResultMessage } from "@diligent/core/run";

type Result = Pick<ToolResultMessage, "output" | "isError" | "toolName" | "outcome" | "metadata">;

const REJECTED = /^(?:The user (?:said no|rejected|stopped)|Refused: )/;
const SKIPPED = /^(?:Not run: |Interrupted: the run was stopped before)/;
const INTERRUPTED = /^(?:Interrupted: the call did not finish|The tool call was interrupted)/;
const EXIT_CODE = /(?:^|\n)\[exit code (\d{1,3})\]\s*$/;
const NOTHING_WRITTEN = /nothing was written\.\s*$/;
// The edit tool's words: `(line 12)` or `(3 replacements, the first in line 12)`.
const MATCH_LINE = /\((?:line |\d+ replacements, the first in line )(\d+)\)/;

/**
 * What became of a saved call. Files of earlier versions say it in nothing but the text for the model: of these, and of no
 * others, that is read.
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

/** A session file may come from anybody: it names no file that would be read for `/result`. */
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
