import { toSingleLine } from "../../terminal-text.ts";
import { keyTexts } from "../keys/key-texts.ts";
import type { Keymap } from "../keys/keymap.ts";
import { fitLine, padLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";
import type { PickerDialog, PickerItem } from "../view.ts";
import { filterItems } from "./picker-items.ts";

// Title, filter, keys and question beside the list.
const OTHER_ROWS = 5;
const MIN_ROWS = 3;
// A list is no taller than that, nor than its share of the screen: what stands above the screen when that gets smaller can
// never be taken back.
const MAX_ROWS = 10;
const SCREEN_SHARE = 0.6;
// Title and keys.
const FRAME_ROWS = 2;
const MAX_DEPTH = 12;
const CURSOR = "▏";
const MAX_WRITTEN = 60;
const MAX_QUESTION_COLUMNS = 300;
const MIN_TITLE_COLUMNS = 16;
// On a narrower screen labels have all the room.
const DETAILS_FROM_COLUMNS = 60;
const LABEL_SHARE = 0.65;

interface Look {
  width: number;
  rows: number;
  theme: Theme;
  keymap: Keymap;
}

/** How many items of a list are shown at once. */
export function listRows(rows: number): number {
  const share = Math.floor(rows * SCREEN_SHARE) - FRAME_ROWS;
  return Math.max(MIN_ROWS, Math.min(MAX_ROWS, share));
}

/** A list in place of the editor: title and filter, the items around the chosen one, what the keys do. */
export function pickerLines(picker: PickerDialog, { width, rows, theme, keymap }: Look): string[] {
  const items = filterItems(picker);
  const shown = listRows(rows);
  const first = Math.max(0, Math.min(picker.selected - Math.floor(shown / 2), items.length - shown));
  const visible = items.slice(first, first + shown);
  const labelColumns = chooseLabelColumns(visible, width);
  const lines = visible.map((item, index) =>
    itemLine(item, { isChosen: first + index === picker.selected, labelColumns, width, theme }),
  );
  const count = theme.dim(`${items.length === 0 ? 0 : picker.selected + 1}/${items.length}`);
  return [
    fitLine(
      `${theme.bold(toSingleLine(picker.title, Math.max(MIN_TITLE_COLUMNS, width / 2)))}  ${writtenLine(picker, theme)}  ${count}`,
      width,
    ),
    ...(lines.length > 0 ? lines : [theme.dim(fitLine("  nothing matches", width))]),
    ...footer(picker, { width, rows, theme, keymap }),
  ];
}

/** What is being typed: a text that was asked for, or the filter. */
function writtenLine({ filter, input }: PickerDialog, theme: Theme): string {
  if (input) return `${theme.accent(`${input.label}:`)} ${endOf(input.text)}${CURSOR}`;
  return filter === "" ? theme.dim("type to filter") : endOf(filter);
}

/** Of a long line its end, where it grows. */
function endOf(line: string): string {
  const shown = toSingleLine(line.slice(-MAX_WRITTEN), MAX_WRITTEN);
  return line.endsWith(" ") ? `${shown} ` : shown;
}

/** The question in full, since it says what cannot be undone; else the keys. */
function footer(picker: PickerDialog, { width, rows, theme, keymap }: Look): string[] {
  const room = Math.max(1, rows - listRows(rows) - OTHER_ROWS + 1);
  if (picker.question === undefined)
    return wrapText(describeKeys(picker, keymap), width).slice(0, room).map(theme.dim);
  const question = `${toSingleLine(picker.question, MAX_QUESTION_COLUMNS)} [y/N]`;
  return wrapText(question, width).map(theme.accent);
}

interface ItemLook {
  isChosen: boolean;
  labelColumns: number;
  width: number;
  theme: Theme;
}

function itemLine(item: PickerItem, { isChosen, labelColumns, width, theme }: ItemLook): string {
  const { detail = "" } = item;
  const mark = isChosen ? "› " : "  ";
  const label = mark + indentedLabel(item, width);
  const name = detail === "" ? fitLine(label, width) : padLine(label, Math.min(width, labelColumns));
  const room = width - visibleWidth(name) - 2;
  const rest = room > 10 && detail !== "" ? `  ${toSingleLine(detail, room)}` : "";
  return isChosen ? theme.selected(padLine(name + rest, width)) : name + theme.dim(rest);
}

function indentedLabel({ label, depth = 0 }: PickerItem, width: number): string {
  const steps = Math.min(depth, MAX_DEPTH, Math.floor(width / 8));
  return "  ".repeat(steps) + toSingleLine(label, width);
}

/** Details stand in one column, and on a screen that is wide enough no label is so long that there is no room for them. */
function chooseLabelColumns(items: readonly PickerItem[], width: number): number {
  const detailed = items.filter(({ detail = "" }) => detail !== "");
  const longest = Math.max(0, ...detailed.map((item) => visibleWidth(indentedLabel(item, width)) + 2));
  return width < DETAILS_FROM_COLUMNS ? width : Math.min(longest, Math.floor(width * LABEL_SHARE));
}

function describeKeys({ input, keys }: PickerDialog, keymap: Keymap): string {
  const [choose, close] = input ? ["keep", "leave as it was"] : ["choose", "close"];
  const own = input ? [] : keys.map(({ action, label }) => [action, label] as const);
  return keyTexts(keymap, [["list.choose", choose], ...own, ["list.close", close]]);
}
