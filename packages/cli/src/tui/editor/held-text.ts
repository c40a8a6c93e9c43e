import { escapeCharacter, sanitizeTerminalText } from "../../terminal-text.ts";
import { cleanText } from "./clean-text.ts";
import { createStandIn, findStandIns, isStandInCharacter, replaceStandIns } from "./stand-in.ts";

/** A text that the editor shows under a label. */
export interface HeldText {
  readonly kind: "paste" | "character";
  readonly content: string;
  readonly label: string;
}

/** All that a prompt editor has ever held, by number: undo and the kill ring may bring any of it back. */
export type HeldTexts = readonly HeldText[];

/** A text for the editor, and everything that is held with it. */
export interface Holding {
  text: string;
  held: HeldTexts;
}

const TAB = "    ";

/** The text with a stand-in for each tab and each character that may not reach a terminal or cannot be seen. */
export function holdText(held: HeldTexts, text: string): Holding {
  const clean = cleanText(text);
  if (isShownAsItIs(clean)) return { text: clean, held };
  const all = [...held];
  const numbers = new Map<string, number>();
  const numberOf = (content: string) => {
    const known = all.findIndex((each) => each.kind === "character" && each.content === content);
    if (known >= 0) return known;
    const label = content === "\t" ? TAB : escapeCharacter(content);
    return all.push({ kind: "character", content, label }) - 1;
  };
  const shown = clean.replace(/[^\n -~]/gu, (character) => {
    if (character !== "\t" && isShownAsItIs(character)) return character;
    const number = numbers.get(character) ?? numberOf(character);
    numbers.set(character, number);
    return createStandIn(all[number]?.label ?? " ", number);
  });
  return { text: shown, held: all };
}

/**
 * The stand-in for a text that is shown as `[label]`; with a number in it where the same label already stands in `shown`,
 * so that a person can tell the two apart.
 */
export function holdPaste(
  held: HeldTexts,
  content: string,
  { label, shown }: { label: string; shown: string },
): Holding {
  const labels = new Set(findStandIns(shown).map((number) => held[number]?.label));
  let own = `[${label}]`;
  for (let count = 2; labels.has(own); count++) own = `[${label} #${count}]`;
  return {
    text: createStandIn(own, held.length),
    held: [...held, { kind: "paste", content, label: own }],
  };
}

/** What the editor's text means: everything that is held in its place. */
export function releaseText(held: HeldTexts, text: string): string {
  return replaceStandIns(text, (number) => held[number]?.content ?? "");
}

/** What was written by hand or pasted in sight: long pastes are blanks. */
export function releaseVisibleText(held: HeldTexts, text: string): string {
  return replaceStandIns(text, (number) => {
    const each = held[number];
    return each?.kind === "character" ? each.content : " ";
  });
}

function isShownAsItIs(text: string): boolean {
  return !text.includes("\t") && !isStandInCharacter(text) && sanitizeTerminalText(text) === text;
}
