import { type Environment, messageText, type SessionEntry } from "@diligent/core/run";
import { EXPORT_FORMATS, type ExportFormat, findFormat } from "../../export/export-format.ts";
import { sanitizeTerminalText } from "../../text/terminal-text.ts";
import { throughTmux } from "../notifications.ts";
import { formatCount } from "../text.ts";
import type { SlashCommand } from "./types.ts";
import { note } from "./types.ts";

/** `/copy`: hands the last answer that has text to the terminal, over ssh too; no terminal says whether it took it. */
export const COPY: SlashCommand = {
  name: "copy",
  description: "Copy the last response to the clipboard",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { session } = await context.session();
    const answer = findLastAnswer(session.branches.path);
    if (answer === undefined) return note(context, "No response to copy yet.");
    // As it was read: what a terminal would obey is no more to be pasted than to be shown.
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

/** The request to a terminal to take a text into its clipboard: OSC 52, and through tmux what is behind it. */
function toClipboardSequence(text: string, { TMUX: tmux }: Environment): string {
  const request = `\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`;
  if (!tmux) return request;
  // tmux takes the first where set-clipboard is on, and passes the second on where allow-passthrough is.
  return `${request}${throughTmux(request)}`;
}

/** `/diff`: by what was kept of the project before each turn; for all other files by the edits in the messages. */
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
    // Outside of the project, and where nothing was kept, the messages tell what was edited.
    const edits = await describeEdits(session.branches.path, cwd, { outside: changes && root });
    const kept = changes && (await describeChanges(changes, { cwd, root }));
    for (const block of [...(kept?.blocks ?? []), ...edits.blocks]) context.show(block);
    if (kept) note(context, kept.summary);
    if (!kept || edits.blocks.length > 0) note(context, edits.summary);
  },
};

/** `/editor`: the prompt goes on with what is saved there. @throws Error where no editor is set, or it failed. */
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

/** `/export`: the branch that is open, as a document or as session lines; as what, the file's name may say too. */
export const EXPORT: SlashCommand = {
  name: "export",
  description: "Export this conversation to a new file",
  argumentHint: "[md|jsonl] [FILE]",
  isAlwaysPossible: true,
  async run(argument, context) {
    const { exportConversation } = await import("../export-conversation.ts");
    await exportConversation(readArgument(argument), context);
  },
  complete: (prefix) => EXPORT_FORMATS.filter((format) => format.startsWith(prefix)),
};

/** What was asked for: the format counts that is named, else the one that the file is called after. */
export function readArgument(argument: string): { format: ExportFormat; file: string | undefined } {
  const [first = "", ...rest] = argument.split(/\s+/);
  const named = EXPORT_FORMATS.find((format) => format === first);
  const file = (named === undefined ? argument : rest.join(" ")).trim() || undefined;
  return { format: named ?? findFormat(file) ?? "md", file };
}

/** `/result`: the call that ended last, without the cuts that the screen makes. */
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

/** `/expand`: thoughts and results in full; opens the list of them where there is more than one. */
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
