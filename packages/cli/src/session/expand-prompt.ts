import type { ExpandedLine, ProjectSession } from "@diligent/core/harness";
import { type ContentBlock, findProjectRoot, homeDirectory } from "@diligent/core/run";

/** What is sent for a line of the user, with notes for the user, a line each. */
interface PromptToSend {
  content: string | ContentBlock[];
  notes: string[];
}

/**
 * Expands a line of the user and attaches the files that its command mentions, for front ends that attach nothing else.
 * @param before text that precedes the line, such as piped input; it is never a command.
 * @throws UsageError when there is nothing to send.
 */
export async function expandToContent(
  line: string,
  { opened, signal, before = "" }: { opened: ProjectSession; signal: AbortSignal; before?: string },
): Promise<PromptToSend | Extract<ExpandedLine, { kind: "output" }>> {
  const expanded = await opened.expandLine(line, signal);
  if (expanded === undefined) return { content: before + line, notes: [] };
  if (expanded.kind === "output") return expanded;
  const { text, mentions: commandMentions = [] } = expanded;
  if (commandMentions.length === 0) return { content: before + text, notes: [] };
  const { attachFiles } = await import("../tui/prompt/attachments.ts");
  const { cwd, scope } = opened;
  const home = homeDirectory(scope.environment);
  const place = { cwd, root: findProjectRoot(cwd, home), home };
  return attachFiles(before + text, { ...place, mentions: [], commandMentions });
}
