import { readRecentInputs } from "@diligent/core/interactive";
import type { InputHistoryEntry } from "@diligent/core/run";
import { sanitizeTerminalText, toSingleLine } from "../../text/terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { createPickerDialog, type Picker } from "./picker.ts";

const MAX_PROMPTS = 2_000;

/** Earlier prompts, those of this project first; undefined if there are none. */
export async function historyPicker(context: CommandContext): Promise<Picker | undefined> {
  const { loaded, redactor } = await context.session();
  const place = { root: loaded.projectRoot, limit: MAX_PROMPTS };
  const entries = redactor.redact(readRecentInputs(context.environment, place));
  if (entries.length === 0) return undefined;
  return {
    dialog: createPickerDialog({ name: "history", title: "Earlier prompts", items: historyItems(entries) }),
    choose(id) {
      const entry = entries[Number(id)];
      if (entry) context.setPrompt(entry.text);
    },
  };
}

const MAX_LABEL_COLUMNS = 200;
const MAX_SEARCHED_CHARS = 2_000;

/** Earlier prompts as a searchable list; an item's id is its index among the entries, from "0". */
export function historyItems(entries: readonly InputHistoryEntry[]): PickerItem[] {
  return entries.map(({ time, cwd, text }, index) => ({
    id: String(index),
    label: toSingleLine(text, MAX_LABEL_COLUMNS),
    detail: toSingleLine(`${toDay(time)} ${cwd}`.trim(), MAX_LABEL_COLUMNS),
    searchText: sanitizeTerminalText(text.slice(0, MAX_SEARCHED_CHARS)),
  }));
}

/** The date of an ISO 8601 time, or an empty text. */
function toDay(time: string): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? "";
}
