import type { PickerDialog, PickerItem } from "../view.ts";

// A list is filtered with every key and drawn more often, and what was said in its sessions may be megabytes.
// What is longer is what was said, not what it is called.
const MAX_NAMING_CHARACTERS = 300;
const searched = new WeakMap<PickerItem, readonly string[]>();

/**
 * The items that the filter leaves: each of its words has to occur, in any case and order. Those that it names as a whole
 * word come first, then those with a word that begins so, each in their order.
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
  // A tree's order says what belongs to what.
  if (found.some(({ depth }) => depth !== undefined)) return found;
  const ranked = found.map((item) => ({ item, rank: rankItem(item, words) }));
  return ranked.sort((left, right) => left.rank - right.rank).map(({ item }) => item);
}

/** 0 where the words of the filter stand as words in what names the item, 1 where words begin so, 2 otherwise. */
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
