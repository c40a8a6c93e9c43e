import type { ExpandedLine, ProjectSession } from "@diligent/core/harness";
import { type ContentBlock, findProjectRoot, homeDirectory } from "@diligent/core/run";
import { describeError } from "../errors.ts";
import { toSingleLine } from "../text/terminal-text.ts";

/** What is sent for a line of the user, with notes for the user, a line each. */
interface PromptToSend {
  content: string | ContentBlock[];
  notes: string[];
  /** The model that its command names. */
  model?: string | undefined;
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
  const { text, model, mentions: commandMentions = [] } = expanded;
  if (commandMentions.length === 0) return { content: before + text, notes: [], model };
  const { attachFiles } = await import("../tui/prompt/attachments.ts");
  const { cwd, scope } = opened;
  const home = homeDirectory(scope.environment);
  const place = { cwd, root: findProjectRoot(cwd, home), home };
  return { ...(await attachFiles(before + text, { ...place, mentions: [], commandMentions })), model };
}

/**
 * Switches to the model that a command names, for one run.
 * @param note called if it cannot be used: the session's model answers then.
 * @returns switches back.
 */
export async function useCommandModel(
  opened: ProjectSession,
  modelId: string | undefined,
  note: (text: string) => void,
): Promise<() => Promise<void>> {
  const before = opened.model.id;
  const nothing = async () => {};
  if (modelId === undefined || modelId === before) return nothing;
  try {
    await opened.changeModel({ modelId });
    return async () => void (await opened.changeModel({ modelId: before }));
  } catch (error) {
    note(
      `The command asks for the model ${toSingleLine(modelId, MAX_NAME_COLUMNS)}: ${describeError(error)}`,
    );
    return nothing;
  }
}

const MAX_NAME_COLUMNS = 80;
