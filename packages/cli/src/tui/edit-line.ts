import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { KeyPress } from "./effects.ts";

const TEXT = /^[^\p{Cc}]+$/u;

/** What a key would write, which is no control character; undefined for a key that writes nothing. */
export function typedText({ data }: KeyPress): string | undefined {
  const typed = decodePrintableKey(data) ?? data;
  return TEXT.test(typed) ? typed : undefined;
}

/** A line of a dialog after a key, which writes or deletes at its end; undefined when the key does neither. Pure. */
export function editLine(line: string, key: KeyPress): string | undefined {
  if (key.name === "backspace") return [...line].slice(0, -1).join("");
  if (key.name === "ctrl+u") return "";
  if (key.name === "ctrl+w") return line.replace(/\S*\s*$/, "");
  const typed = typedText(key);
  return typed === undefined ? undefined : line + typed;
}
