import type { UserMessage } from "../../types.ts";
import { cutMiddle, MARKER_CHARACTERS } from "./cut-middle.ts";
import { CHARACTERS_PER_TOKEN } from "./estimate-tokens.ts";

const TITLE = "## User Messages\nWhat the user said in the summarised part, word for word, oldest first.";
const BLANK_LINE = "\n\n";

// Where not all messages fit, none of them may crowd out more than so many others.
const LARGEST_SHARE = 1 / 5;

/** Room for `(12345 messages left out here)` and its blank line. */
const GAP_CHARACTERS = 36;

/**
 * A section with what the user said, word for word and in order. Where not everything fits into `budgetTokens` (of four
 * characters), a message above its share, a fifth at least, keeps its head and tail, the oldest and newest messages are taken first,
 * from both ends in turn, and those left out are counted in their places. Each message stands in a tag that occurs in
 * none of them. Empty without messages.
 */
export function formatPinnedMessages(messages: readonly UserMessage[], budgetTokens: number): string {
  const texts = messages.map(textOf).filter((text) => text.trim() !== "");
  if (texts.length === 0) return "";
  const tag = findFreeTag(texts);
  const room = budgetTokens * CHARACTERS_PER_TOKEN - TITLE.length;
  const shown = fitTexts(texts, { room, wrapping: wrap(tag, "").length + BLANK_LINE.length });
  return [TITLE, ...shown.map((part) => (typeof part === "number" ? gap(part) : wrap(tag, part)))].join(
    BLANK_LINE,
  );
}

/** The texts that fit, and between them the numbers of those that do not. `wrapping` is what each costs besides its text. */
function fitTexts(
  texts: readonly string[],
  { room, wrapping }: { room: number; wrapping: number },
): (string | number)[] {
  const costOf = (text: string) => text.length + wrapping;
  const fits = (all: readonly string[]) => all.reduce((sum, text) => sum + costOf(text), 0) <= room;
  if (fits(texts)) return [...texts];
  const longest = Math.floor(room * Math.max(LARGEST_SHARE, 1 / texts.length)) - wrapping;
  const cut = texts.map((text) =>
    text.length > longest ? cutMiddle(text, longest - MARKER_CHARACTERS) : text,
  );
  if (fits(cut)) return cut;
  let left = room - GAP_CHARACTERS;
  const taken = new Uint8Array(cut.length);
  for (const index of fromBothEnds(cut.length)) {
    const cost = costOf(cut[index] ?? "") + GAP_CHARACTERS;
    if (cost > left) continue;
    taken[index] = 1;
    left -= cost;
  }
  return withGaps(cut, taken);
}

function* fromBothEnds(length: number): Generator<number> {
  for (let first = 0, last = length - 1; first <= last; first++, last--) {
    yield first;
    if (last > first) yield last;
  }
}

function withGaps(texts: readonly string[], taken: Uint8Array): (string | number)[] {
  const parts: (string | number)[] = [];
  let leftOut = 0;
  for (const [index, text] of texts.entries()) {
    if (!taken[index]) {
      leftOut++;
      continue;
    }
    if (leftOut > 0) parts.push(leftOut);
    leftOut = 0;
    parts.push(text);
  }
  return leftOut > 0 ? [...parts, leftOut] : parts;
}

function textOf({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  const parts = content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "image" ? "[image]" : "";
  });
  return parts.filter((part) => part !== "").join("\n");
}

/** `user-message`, or with a number behind it where a text holds that: so no message can end its own tag. */
function findFreeTag(texts: readonly string[]): string {
  const used = new Set<number>();
  for (const text of texts) {
    if (!/user-message/i.test(text)) continue;
    for (const [, number = "1"] of text.matchAll(/<[\s/]*user-message(?:-(\d{1,6})(?!\d))?/gi))
      used.add(Number(number));
  }
  let free = 1;
  while (used.has(free)) free++;
  return free === 1 ? "user-message" : `user-message-${free}`;
}

function wrap(tag: string, text: string): string {
  return `<${tag}>\n${text}\n</${tag}>`;
}

function gap(count: number): string {
  return `(${count} ${count === 1 ? "message" : "messages"} left out here)`;
}
