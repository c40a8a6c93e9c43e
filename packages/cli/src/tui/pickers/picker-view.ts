import { toSingleLine } from "../../text/terminal-text.ts";
import { editLine, type KeyContext, type KeyOutcome, type KeyPress } from "../effects.ts";
import { type Keymap, keyTexts } from "../keys/keymap.ts";
import { fitLine, padLine, visibleWidth, wrapText } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";
import type { PickerDialog, PickerItem, View } from "../view.ts";

// Title, filter, keys and question around the list.
const OTHER_ROWS = 5;
const MIN_ROWS = 3;
// A list is never taller than this, nor than its share of the screen: rows that a smaller screen pushes off
// its top cannot be erased any more.
const MAX_ROWS = 10;
const SCREEN_SHARE = 0.6;
// Title and keys.
const FRAME_ROWS = 2;
const MAX_DEPTH = 12;
const CURSOR = "▏";
const MAX_WRITTEN = 60;
const MAX_HIDDEN = 12;
const MAX_QUESTION_COLUMNS = 300;
const MIN_TITLE_COLUMNS = 16;
// On a narrower screen, labels get all the space.
const DETAILS_FROM_COLUMNS = 60;
const LABEL_SHARE = 0.65;

interface ListLayout {
  width: number;
  rows: number;
  theme: Theme;
  keymap: Keymap;
}

/** How many items of a list are visible at once. */
function listRows(rows: number): number {
  const share = Math.floor(rows * SCREEN_SHARE) - FRAME_ROWS;
  return Math.max(MIN_ROWS, Math.min(MAX_ROWS, share));
}

/** A list instead of the editor: title and filter, the items around the selected one, and the keys. */
export function pickerLines(picker: PickerDialog, { width, rows, theme, keymap }: ListLayout): string[] {
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
    ...(lines.length > 0 ? lines : [theme.dim(fitLine("  no matches", width))]),
    ...footer(picker, { width, rows, theme, keymap }),
  ];
}

/** The text being typed: the requested line, or the filter. */
function writtenLine({ filter, input }: PickerDialog, theme: Theme): string {
  if (input)
    return `${theme.accent(`${input.label}:`)} ${input.isHidden ? hide(input.text) : endOf(input.text)}${CURSOR}`;
  return filter === "" ? theme.dim("type to filter") : endOf(filter);
}

/** Shows that something was typed, but not its length. */
function hide(text: string): string {
  return "•".repeat(Math.min(text.length, MAX_HIDDEN));
}

/** A long line shows its end, where it grows. */
function endOf(line: string): string {
  const shown = toSingleLine(line.slice(-MAX_WRITTEN), MAX_WRITTEN);
  return line.endsWith(" ") ? `${shown} ` : shown;
}

/** The question in full, since it is about something irreversible; otherwise the keys. */
function footer(picker: PickerDialog, { width, rows, theme, keymap }: ListLayout): string[] {
  const room = Math.max(1, rows - listRows(rows) - OTHER_ROWS + 1);
  if (picker.question === undefined)
    return wrapText(describeKeys(picker, keymap), width).slice(0, room).map(theme.dim);
  const question = `${toSingleLine(picker.question, MAX_QUESTION_COLUMNS)} [y/N]`;
  return wrapText(question, width).map(theme.accent);
}

interface ItemStyle {
  isChosen: boolean;
  labelColumns: number;
  width: number;
  theme: Theme;
}

function itemLine(item: PickerItem, { isChosen, labelColumns, width, theme }: ItemStyle): string {
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

/** Details are aligned in one column; on a wide screen labels are limited so that there is space for them. */
function chooseLabelColumns(items: readonly PickerItem[], width: number): number {
  const detailed = items.filter(({ detail = "" }) => detail !== "");
  const longest = Math.max(0, ...detailed.map((item) => visibleWidth(indentedLabel(item, width)) + 2));
  return width < DETAILS_FROM_COLUMNS ? width : Math.min(longest, Math.floor(width * LABEL_SHARE));
}

function describeKeys({ input, keys }: PickerDialog, keymap: Keymap): string {
  const writing = input?.isHidden ? ["test and store it", "go back"] : ["keep", "keep as is"];
  const [choose = "", close = ""] = input ? writing : ["choose", "close"];
  const own = input ? [] : keys.map(({ action, label }) => [action, label] as const);
  return keyTexts(keymap, [["list.choose", choose], ...own, ["list.close", close]]);
}

// A list is filtered with every key and drawn even more often, and the text of its sessions may be megabytes.
// A longer text is what was said, not a name.
const MAX_NAMING_CHARACTERS = 300;
const searched = new WeakMap<PickerItem, readonly string[]>();

/**
 * The items that match the filter: each of its words must occur, in any case and order. Items that match it
 * as whole words come first, then those with words that begin with it, each in their order.
 */
export function filterItems({
  items,
  filter,
}: Pick<PickerDialog, "items" | "filter">): readonly PickerItem[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  const found = items.filter((item) => {
    const texts = searchedTexts(item);
    return words.every((word) => texts.some((text) => text.includes(word)));
  });
  // The order of a tree shows its structure.
  if (found.some(({ depth }) => depth !== undefined)) return found;
  const ranked = found.map((item) => ({ item, rank: rankItem(item, words) }));
  return ranked.sort((left, right) => left.rank - right.rank).map(({ item }) => item);
}

/**
 * 0 if the words of the filter are whole words in the item's name, 1 if words begin with them, 2 otherwise.
 */
function rankItem(item: PickerItem, words: readonly string[]): number {
  const named = searchedTexts(item)
    .filter((text) => text.length <= MAX_NAMING_CHARACTERS)
    .flatMap((text) => [...text.split(/\s+/), ...text.split(/[^\p{L}\p{N}]+/u)]);
  const ranks = words.map((word) => {
    if (named.includes(word)) return 0;
    return named.some((each) => each.startsWith(word)) ? 1 : 2;
  });
  return Math.max(...ranks);
}

function searchedTexts(item: PickerItem): readonly string[] {
  let texts = searched.get(item);
  if (texts === undefined) {
    const { label, detail = "", searchText = "" } = item;
    texts = [label, detail, searchText].map((text) => text.toLowerCase());
    searched.set(item, texts);
  }
  return texts;
}

interface PickerKey {
  key: KeyPress;
  context: KeyContext;
}

/**
 * Handles a key while a list is open: moves, filters, chooses, closes, or runs one of the list's own keys.
 * Pure.
 */
export function applyPickerKey(view: View, picker: PickerDialog, pressed: PickerKey): KeyOutcome {
  if (picker.question !== undefined) return answerQuestion(view, picker, pressed.key);
  if (picker.input !== undefined) return writeInput(view, { ...picker, input: picker.input }, pressed);
  const { key, context } = pressed;
  const { keymap } = context;
  const id = chosenId(picker);
  const own = picker.keys.find(({ action }) => keymap.matches(key.name, action));
  if (own) return { view, effects: [{ type: "pickerKey", action: own.action, id }] };
  if (keymap.matches(key.name, "list.close"))
    return { view: { ...view, dialog: undefined }, effects: [{ type: "closePicker" }] };
  if (keymap.matches(key.name, "list.choose")) {
    if (id === undefined) return { view, effects: [] };
    return { view: { ...view, dialog: undefined }, effects: [{ type: "choose", id }] };
  }
  const selected = moveTo(picker, pressed);
  if (selected !== undefined) return unanswered(view, { ...picker, selected });
  const filter = editLine(picker.filter, key);
  return filter === undefined ? { view, effects: [] } : unanswered(view, { ...picker, filter, selected: 0 });
}

function chosenId(picker: PickerDialog): string | undefined {
  return filterItems(picker)[picker.selected]?.id;
}

/** Everything except a clear yes is a no. */
function answerQuestion(view: View, picker: PickerDialog, { name }: KeyPress): KeyOutcome {
  const asked = { ...view, dialog: { ...picker, question: undefined } };
  const isYes = name === "y" || name === "shift+y" || name === "Y";
  if (!isYes) return { view: asked, effects: [] };
  return { view: asked, effects: [{ type: "confirmPicker", id: chosenId(picker) }] };
}

function writeInput(
  view: View,
  picker: PickerDialog & { input: NonNullable<PickerDialog["input"]> },
  { key, context: { keymap } }: PickerKey,
): KeyOutcome {
  const { input } = picker;
  const written = { ...view, dialog: { ...picker, input: undefined } };
  if (keymap.matches(key.name, "list.close")) return { view: written, effects: [] };
  if (keymap.matches(key.name, "list.choose")) {
    const id = chosenId(picker);
    return { view: written, effects: [{ type: "submitPicker", id, text: input.text }] };
  }
  const text = editLine(input.text, key);
  return unanswered(view, text === undefined ? picker : { ...picker, input: { ...input, text } });
}

/** The new selection; undefined for a key that does not move it. */
function moveTo(picker: PickerDialog, { key, context }: PickerKey): number | undefined {
  const { keymap, rows } = context;
  const last = filterItems(picker).length - 1;
  const steps = [
    ["list.up", -1],
    ["list.down", 1],
    ["list.pageUp", -listRows(rows)],
    ["list.pageDown", listRows(rows)],
    ["list.first", -last],
    ["list.last", last],
  ] as const;
  const step = steps.find(([action]) => keymap.matches(key.name, action))?.[1];
  if (step === undefined) return undefined;
  return Math.max(0, Math.min(last, picker.selected + step));
}

function unanswered(view: View, dialog: PickerDialog): KeyOutcome {
  return { view: { ...view, dialog }, effects: [] };
}
