import { type Environment, messageText, type SessionEntry } from "@diligent/core/run";
import { EXPORT_FORMATS, type ExportFormat, findFormat } from "../../export/export-format.ts";
import { sanitizeTerminalText } from "../../text/terminal-text.ts";
import { throughTmux } from "../notifications.ts";
import { formatCount } from "../text.ts";
import type { SlashCommand } from "./types.ts";
import { note } from "./types.ts";

/**
 * `/copy`: sends the last answer with text to the terminal's clipboard, over ssh too; no terminal reports
 * whether it accepted it.
 */
export const COPY: SlashCommand = {
  name: "copy",
  description: "Copy the last response to the clipboard",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { session } = await context.session();
    const answer = findLastAnswer(session.branches.path);
    if (answer === undefined) return note(context, "No response to copy yet.");
    // Copied as it was shown: control sequences are as dangerous when pasted as when shown.
    context.writeRaw(toClipboardSequence(sanitizeTerminalText(answer), context.environment));
    note(context, `Copied the last response (${formatCount(answer.length, "character")}) to the clipboard.`);
  },
};

function findLastAnswer(path: readonly SessionEntry[]): string | undefined {
  for (const entry of path.toReversed()) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const text = messageText(entry.message);
    if (text.trim() !== "") return text;
  }
  return undefined;
}

/** The request that makes a terminal copy a text: OSC 52, and its passthrough form for tmux. */
function toClipboardSequence(text: string, { TMUX: tmux }: Environment): string {
  const request = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
  if (!tmux) return request;
  // tmux handles the first if set-clipboard is on, and forwards the second if allow-passthrough is on.
  return `${request}${throughTmux(request)}`;
}

/**
 * `/diff`: compares with the state recorded before each turn; for all other files it uses the edits in the
 * messages.
 */
export const DIFF: SlashCommand = {
  name: "diff",
  aliases: ["changes"],
  description: "Show what this session changed",
  isAlwaysPossible: true,
  async run(_, context) {
    const { cwd, session, loaded, checkpoints } = await context.session();
    const [{ describeChanges }, changes] = await Promise.all([
      import("../changes.ts"),
      checkpoints.changes(),
    ]);
    const { describeEdits } = await import("../changes.ts");
    const root = loaded.projectRoot;
    // Outside the project, and where nothing was recorded, the messages show the edits.
    const edits = await describeEdits(session.branches.path, cwd, { outside: changes && root });
    const kept = changes && (await describeChanges(changes, { cwd, root }));
    for (const block of [...(kept?.blocks ?? []), ...edits.blocks]) context.show(block);
    if (kept) note(context, kept.summary);
    if (!kept || edits.blocks.length > 0) note(context, edits.summary);
  },
};

/** `/editor`: the saved text becomes the prompt. @throws Error if no editor is set, or it failed. */
export const EDITOR: SlashCommand = {
  name: "editor",
  description: "Write the prompt in $VISUAL or $EDITOR",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { cwd, loaded } = await context.session();
    const { editExternally } = await import("../prompt/external-editor.ts");
    const edited = await editExternally(context.prompt(), {
      ...context,
      cwd,
      root: loaded.projectRoot,
    });
    if ("error" in edited) throw new Error(edited.error);
    context.setPrompt(edited.text);
  },
};

/**
 * `/export`: the current branch, as a document or as session lines; the file's name can select the format.
 */
export const EXPORT: SlashCommand = {
  name: "export",
  description: "Export this conversation to a new file",
  argumentHint: "[md|jsonl|atif] [FILE]",
  isAlwaysPossible: true,
  async run(argument, context) {
    const { exportConversation } = await import("../export-conversation.ts");
    await exportConversation(readArgument(argument), context);
  },
  complete: (prefix) => EXPORT_FORMATS.filter((format) => format.startsWith(prefix)),
};

/** The requested format: the one named, or else the one implied by the file's name. */
export function readArgument(argument: string): { format: ExportFormat; file: string | undefined } {
  const [first = "", ...rest] = argument.split(/\s+/);
  const named = EXPORT_FORMATS.find((format) => format === first);
  const file = (named === undefined ? argument : rest.join(" ")).trim() || undefined;
  return { format: named ?? findFormat(file) ?? "md", file };
}

/** `/result`: the last finished call, without the cuts that the screen makes. */
export const RESULT: SlashCommand = {
  name: "result",
  description: "Show the last result in full, in $PAGER",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { lastCall } = context.view();
    if (!lastCall) return note(context, "No results yet.");
    const { showInFull } = await import("../pager.ts");
    await showInFull(lastCall, context);
  },
};

/** `/expand`: thoughts and results in full; opens a list if there is more than one. */
export const EXPAND: SlashCommand = {
  name: "expand",
  description: "Show thinking and earlier results in full",
  isAlwaysPossible: true,
  needsScreen: true,
  opensList: true,
  async run(_, context) {
    const { expandable } = context.view();
    const [only] = expandable;
    if (only === undefined) return note(context, "Nothing to expand yet.");
    if (expandable.length > 1) {
      const { expandPicker } = await import("../pickers/expand.ts");
      return context.open(expandPicker(expandable, context));
    }
    const { showInFull } = await import("../pager.ts");
    await showInFull(only, context);
  },
};
