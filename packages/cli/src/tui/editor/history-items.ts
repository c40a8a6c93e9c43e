import type { InputHistoryEntry } from "@diligent/core/run";
import { sanitizeTerminalText, toSingleLine } from "../../terminal-text.ts";
import type { PickerItem } from "../view.ts";

const MAX_LABEL_COLUMNS = 200;
const MAX_SEARCHED_CHARS = 2_000;

/** Earlier prompts as a list to search in; the id of each is its place among the entries, from "0". */
export function historyItems(entries: readonly InputHistoryEntry[]): PickerItem[] {
  return entries.map(({ time, cwd, text }, index) => ({
    id: String(index),
    label: toSingleLine(text, MAX_LABEL_COLUMNS),
    detail: toSingleLine(`${toDay(time)} ${cwd}`.trim(), MAX_LABEL_COLUMNS),
    searchText: sanitizeTerminalText(text.slice(0, MAX_SEARCHED_CHARS)),
  }));
}

/** The date of a time in ISO 8601, or nothing. */
function toDay(time: string): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(time)?.[0] ?? "";
}
