import type { PickerDialog, PickerItem } from "../view.ts";

// A list is filtered with every key and drawn more often, and what was said in its sessions may be megabytes.
const searched = new WeakMap<PickerItem, readonly string[]>();

/** The items that the filter leaves: each of its words has to occur, in any case and order. */
export function filterItems({
  items,
  filter,
}: Pick<PickerDialog, "items" | "filter">): readonly PickerItem[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items.filter((item) => {
    const texts = searchedTexts(item);
    return words.every((word) => texts.some((text) => text.includes(word)));
  });
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
