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

/** How a line is expanded. */
interface ExpandOptions {
  opened: ProjectSession;
  signal: AbortSignal;
  /** Text that precedes the line, such as piped input; it is never a command, and mentions nothing. */
  before?: string;
  /**
   * Whose words the line is. `typed`: the user mentions a file by `@path` and thereby agrees to send it. `given`: a script
   * may have put the words of others into it, so only what is in the project and not secret is attached. `editor`: the
   * editor attaches files itself.
   */
  source: "typed" | "given" | "editor";
}

/**
 * Expands a line of the user, and attaches the files that it or its command mentions.
 * @throws UsageError when there is nothing to send.
 */
export async function expandToContent(
  line: string,
  { opened, signal, before = "", source }: ExpandOptions,
): Promise<PromptToSend | Extract<ExpandedLine, { kind: "output" }>> {
  opened.redactor.noteForeign(before);
  const expanded = await opened.expandLine(line, signal);
  if (expanded?.kind === "output") return expanded;
  const { text, model, mentions: fromCommand = [] } = expanded ?? { text: line };
  const mayMention = source !== "editor" && MENTION_SIGN.test(line);
  if (fromCommand.length === 0 && !mayMention) return { content: before + text, notes: [], model };
  const { attachFiles, findMentions } = await import("../tui/prompt/attachments.ts");
  const { cwd, scope } = opened;
  const home = homeDirectory(scope.environment);
  const place = { cwd, root: findProjectRoot(cwd, home), home };
  const own = mayMention ? findMentions(line) : [];
  const content = await attachFiles(before + text, {
    ...place,
    redactor: opened.redactor,
    mentions: source === "typed" ? own : [],
    commandMentions: source === "given" ? [...own, ...fromCommand] : fromCommand,
    // Only reached by what is typed: everything else mentions files of the project at most.
    readMention: (mention) =>
      opened.readMention(mention, AbortSignal.any([signal, AbortSignal.timeout(MENTION_LIMIT_MS)])),
  });
  return { ...content, model };
}

/** A server that takes longer to send what a prompt mentions must not keep the prompt from being sent. */
export const MENTION_LIMIT_MS = 60_000;

// What reads mentions is loaded only for a line that may have one: after @, or an image by its path.
const MENTION_SIGN = /@|\.(?:png|jpe?g|gif|webp)\b/i;

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
