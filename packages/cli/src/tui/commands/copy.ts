import { type Environment, messageText, type SessionEntry } from "@diligent/core/run";
import { sanitizeTerminalText } from "../../terminal-text.ts";
import { throughTmux } from "../attention/through-tmux.ts";
import { note } from "../note.ts";
import { formatCount } from "../text/format-amount.ts";
import type { SlashCommand } from "./types.ts";

/** `/copy`: hands the last answer that has text to the terminal, over ssh too; no terminal says whether it took it. */
export const COPY: SlashCommand = {
  name: "copy",
  description: "The last answer into the clipboard",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { session } = await context.session();
    const answer = findLastAnswer(session.branches.path);
    if (answer === undefined) return note(context, "There is no answer to copy yet.");
    // As it was read: what a terminal would obey is no more to be pasted than to be shown.
    context.writeRaw(toClipboardSequence(sanitizeTerminalText(answer), context.environment));
    note(
      context,
      `The last answer (${formatCount(answer.length, "character")}) was handed to the terminal's clipboard.`,
    );
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
