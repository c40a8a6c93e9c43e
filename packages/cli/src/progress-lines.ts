import type { AgentEvent } from "@diligent/core/run";
import { toSingleLine } from "./terminal-text.ts";

// A line of a common terminal, less what a shell or a log puts in front of it.
const MAX_COLUMNS = 100;

// What is saved steers later sessions, so all of it is shown: as much as can be saved at once, in wide characters.
const MAX_KNOWLEDGE_COLUMNS = 4_000;

/**
 * One line about an event for a person who follows a run, or undefined where there is nothing to say. It is safe for
 * a terminal. Text of the model is no progress, and why a run ended is said once, by `describeStop`.
 */
export function describeProgress(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "tool_start":
      return toSingleLine(
        [event.toolName, describeInput(event.input)].filter(Boolean).join(": "),
        MAX_COLUMNS,
      );
    case "tool_update":
      return event.input && toSingleLine(`as you changed it: ${describeInput(event.input)}`, MAX_COLUMNS);
    case "tool_end":
      return event.isError
        ? toSingleLine(`${event.toolName} failed: ${event.output}`, MAX_COLUMNS)
        : undefined;
    case "compaction_start":
      return `⟳ Compacting context (${formatTokens(event.estimatedTokens)} tokens)...`;
    case "compaction_end":
      return describeCompaction(event);
    case "knowledge_saved":
      return `💡 Knowledge saved: ${toSingleLine(event.content, MAX_KNOWLEDGE_COLUMNS)}`;
    case "notice":
      return event.level === "info" ? event.message : `${event.level}: ${event.message}`;
    case "error":
      return event.fatal ? undefined : `error: ${event.error.message}`;
    default:
      return undefined;
  }
}

/** What a compaction has come to. */
export function describeCompaction({
  tokensBefore,
  tokensAfter,
}: {
  tokensBefore: number;
  tokensAfter: number;
}): string {
  return `Context compacted: ${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
}

/** In thousands, as `142k`; below that the number itself. */
export function formatTokens(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

/** What a call is about: the argument that a person would name it by, else all of them. */
function describeInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return String(input);
  const values = new Map<string, unknown>(Object.entries(input));
  for (const name of ["command", "file_path", "pattern", "path", "content"]) {
    const value = values.get(name);
    if (typeof value === "string" && value !== "") return value;
  }
  return values.size === 0 ? "" : JSON.stringify(input);
}
