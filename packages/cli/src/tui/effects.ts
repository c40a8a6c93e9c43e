import type { PersonAnswer } from "@diligent/core/harness";
import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { ActionId, Keymap } from "./keys/keymap.ts";
import type { Dialog, View } from "./view.ts";

/** A key as named by the terminal library, and its bytes. */
export interface KeyPress {
  name: string;
  data: string;
}

/** What the meaning of a key depends on, in addition to the view. */
export interface KeyContext {
  keymap: Keymap;
  isPromptEmpty: boolean;
  /** Milliseconds. */
  now: number;
  /** The height of the screen, for lists and long questions. */
  rows: number;
  columns: number;
}

/** The result of a key: the new view, and the effects to run, in order. */
export interface KeyOutcome {
  view: View;
  effects: readonly Effect[];
}

/** What a key requests in addition to a change of the view; `app.ts` runs it. */
export type Effect =
  /** The key belongs to the text editor. */
  | { type: "edit"; data: string }
  /** Clears the prompt; its text goes into the history. */
  | { type: "clearPrompt" }
  | { type: "abort" }
  /** Ends the user's shell command. */
  | { type: "stopShell" }
  /** The running command continues in the background. */
  | { type: "leaveForeground" }
  /** Queued prompts return to the editor. */
  | { type: "takeBack"; which: "last" | "all" }
  | { type: "answer"; answer: PersonAnswer }
  /**
   * The command that waits for approval is edited: opened in a field, changed by a key there, or opened in
   * $EDITOR.
   */
  | { type: "editCommand" }
  | { type: "editCommandKey"; data: string }
  | { type: "editCommandExternally" }
  /** An item of a picker was chosen, or one of the picker's own keys was pressed on it. */
  | { type: "choose"; id: string }
  | { type: "pickerKey"; action: ActionId; id: string | undefined }
  /** The picker's question was confirmed. */
  | { type: "confirmPicker"; id: string | undefined }
  /** The line that the picker asked for is complete. */
  | { type: "submitPicker"; id: string | undefined; text: string }
  | { type: "closePicker" }
  /** `name` is the name of a slash command. */
  | { type: "openPicker"; name: "tree" | "history" | "model" | "thinking" | "expand" }
  | { type: "nextApprovalMode" }
  /**
   * Redraws everything that may still change, for example after another program has written to the screen.
   */
  | { type: "redraw" }
  | { type: "externalEditor" }
  /** The image in the clipboard is mentioned in the prompt. */
  | { type: "pasteImage" }
  | { type: "suspend" }
  | { type: "exit" };

const TEXT = /^[^\p{Cc}]+$/u;

/** The text that a key types; undefined for control characters and other keys. */
export function typedText({ data }: KeyPress): string | undefined {
  const typed = decodePrintableKey(data) ?? data;
  return TEXT.test(typed) ? typed : undefined;
}

/**
 * The text of a dialog's input line after a key that types or deletes at its end; undefined for any other
 * key. Pure.
 */
export function editLine(line: string, key: KeyPress): string | undefined {
  if (key.name === "backspace") return [...line].slice(0, -1).join("");
  if (key.name === "ctrl+u") return "";
  if (key.name === "ctrl+w") return line.replace(/\S*\s*$/, "");
  const typed = typedText(key);
  return typed === undefined ? undefined : line + typed;
}

/**
 * The view after such a text arrived while a dialog is open: it goes into the dialog's input, and is never an
 * answer. Pure.
 */
export function applyText(view: View, dialog: Dialog, text: string): View {
  if (text.trim() === "") return view;
  if (dialog.type === "picker") {
    if (dialog.question !== undefined)
      return { ...view, hint: "Pasted text was ignored; press y to confirm" };
    const { filter, input } = dialog;
    const written = input
      ? { input: { ...input, text: input.text + text } }
      : { filter: filter + text, selected: 0 };
    return { ...view, hint: undefined, dialog: { ...dialog, ...written } };
  }
  if (dialog.message === undefined)
    return { ...view, hint: "Pasted text was ignored; press a key to answer" };
  return { ...view, hint: undefined, dialog: { ...dialog, message: dialog.message + text } };
}
