import { toSingleLine } from "../terminal-text.ts";
import type { Picker } from "../tui/pickers/picker.ts";
import type { PickerItem } from "../tui/view.ts";

// What is further from the marked item is chosen by its number or id all the same.
const MAX_SHOWN = 40;
const MAX_TEXT_COLUMNS = 300;
const MAX_DEPTH = 12;

/** A list that a command has opened, by lines: what is in it stands below each other with numbers. */
export class NumberedList {
  constructor(
    /** The command that chooses from it, without the slash. */
    readonly command: string,
    private readonly picker: Picker,
  ) {}

  /** The lines that show it. */
  format(): string {
    const { items, selected, title } = this.picker.dialog;
    const first = Math.max(0, Math.min(selected - Math.floor(MAX_SHOWN / 2), items.length - MAX_SHOWN));
    const shown = items.slice(first, first + MAX_SHOWN);
    const after = items.length - first - shown.length;
    return [
      `${title}:`,
      ...(first > 0 ? [`  ${first} more before these`] : []),
      ...shown.map((item, index) => `  ${first + index + 1}. ${formatItem(item)}`),
      ...(after > 0 ? [`  ${after} more after these`] : []),
      `/${this.command} NUMBER${shown.some(hasOwnId) ? " or ID" : ""} chooses one.`,
    ].join("\n");
  }

  /** The id of the item that a number, an id or the beginning of one id names; undefined where it names none. */
  find(reference: string): string | undefined {
    const { items } = this.picker.dialog;
    if (isListNumber(reference)) return items[Number(reference) - 1]?.id;
    const found = items.filter((item) => hasOwnId(item) && item.id.startsWith(reference));
    return found.length === 1 ? found[0]?.id : found.find(({ id }) => id === reference)?.id;
  }

  get length(): number {
    return this.picker.dialog.items.length;
  }

  async choose(id: string): Promise<void> {
    await this.picker.choose(id);
  }
}

/** True for up to four digits: longer ones are the beginning of an id. */
export function isListNumber(text: string): boolean {
  return /^\d{1,4}$/.test(text);
}

function formatItem(item: PickerItem): string {
  const { id, label, detail = "", depth = 0 } = item;
  const text = toSingleLine(label.replace(/^●\s*/, "* ").replace(/^○\s*/, "- "), MAX_TEXT_COLUMNS);
  const facts = [text, toSingleLine(detail, MAX_TEXT_COLUMNS), isNamed(item) ? "" : id];
  return "  ".repeat(Math.min(depth, MAX_DEPTH)) + facts.filter((fact) => fact !== "").join(" | ");
}

/** False for a mere position in the list. */
function hasOwnId({ id }: PickerItem): boolean {
  return !isListNumber(id);
}

function isNamed(item: PickerItem): boolean {
  return !hasOwnId(item) || item.label.toLowerCase().includes(item.id.toLowerCase());
}
