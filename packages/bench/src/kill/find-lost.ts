import type { SessionEntry } from "@diligent/core/run";

/** A JSON object of a line of the output. */
export type PrintedLine = Readonly<Record<string, unknown>>;

/** The messages that a run had shown as finished and that are not in its file, in words. */
export function findLost(printed: readonly PrintedLine[], entries: readonly SessionEntry[]): string[] {
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const saved = new Set(messages.map((message) => JSON.stringify(message)));
  const results = new Set(
    messages.flatMap((message) =>
      message.role === "tool_result" ? [toKey(message.toolCallId, message.output)] : [],
    ),
  );
  const lost = printed.flatMap((line) => {
    const isSaved =
      line.type === "message_end"
        ? saved.has(JSON.stringify(line.message))
        : results.has(toKey(line.toolCallId, line.output));
    return isFinished(line) && !isSaved ? [JSON.stringify(line)] : [];
  });
  const hasPrompt = messages.some(({ role }) => role === "user");
  return lost.length === 0 && printed.some(isFinished) && !hasPrompt ? ["the prompt"] : lost;
}

/** True for an event that shows a message or a result as finished. */
export function isFinished({ type }: PrintedLine): boolean {
  return type === "message_end" || type === "tool_end";
}

function toKey(toolCallId: unknown, output: unknown): string {
  return JSON.stringify([toolCallId, output]);
}
