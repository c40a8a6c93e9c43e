import { decodePrintableKey, isKeyRelease } from "@earendil-works/pi-tui/dist/keys.js";
import { cleanPaste } from "./editor/clean-text.ts";
import { InputReader } from "./editor/input-reader.ts";
import type { Dialog, View } from "./view.ts";

// What a line of a dialog holds of a paste; more than that nobody looks for or writes there.
const MAX_CHARACTERS = 1_000;

/** The text that somebody has pasted or written in input that names no key, on one line; empty without any. */
export function readText(data: string): string {
  if (isKeyRelease(data)) return "";
  const parts = new InputReader().read(data);
  const texts = parts.map((part) =>
    part.kind === "paste" ? cleanPaste(part.data) : (decodePrintableKey(part.data) ?? ""),
  );
  return texts.join("").replace(/\s+/g, " ").slice(0, MAX_CHARACTERS).toWellFormed();
}

/** The view after such a text came while a dialog is open: it goes where one writes there, and is never an answer. Pure. */
export function applyText(view: View, dialog: Dialog, text: string): View {
  if (text.trim() === "") return view;
  if (dialog.type === "picker") {
    if (dialog.question !== undefined) return { ...view, hint: "A paste is no answer; y is a yes" };
    const { filter, input } = dialog;
    const written = input
      ? { input: { ...input, text: input.text + text } }
      : { filter: filter + text, selected: 0 };
    return { ...view, hint: undefined, dialog: { ...dialog, ...written } };
  }
  if (dialog.message === undefined) return { ...view, hint: "A paste is no answer; it was left out" };
  return { ...view, hint: undefined, dialog: { ...dialog, message: dialog.message + text } };
}
