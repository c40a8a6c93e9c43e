import type { PersonAnswer } from "@diligent/core/harness";
import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { ActionId, Keymap } from "./keys/keymap.ts";
import type { Dialog, View } from "./view.ts";

/** A key as the terminal library names it, and the bytes it came as. */
export interface KeyPress {
  name: string;
  data: string;
}

/** What a key's meaning depends on besides the view. */
export interface KeyContext {
  keymap: Keymap;
  isPromptEmpty: boolean;
  /** Milliseconds. */
  now: number;
  /** Of the screen, for lists and long questions. */
  rows: number;
  columns: number;
}

/** What a key leads to: the view after it, and in order what is to be done besides. */
export interface KeyOutcome {
  view: View;
  effects: readonly Effect[];
}

/** What a key asks for beyond a change of the view; `app.ts` carries it out. */
export type Effect =
  /** The key belongs to the text editor. */
  | { type: "edit"; data: string }
  /** Empties the prompt; what was written in it is in the history then. */
  | { type: "clearPrompt" }
  | { type: "abort" }
  /** The user's own command is to end. */
  | { type: "stopShell" }
  /** What waited for the model goes back into the editor. */
  | { type: "takeBack"; which: "last" | "all" }
  | { type: "answer"; answer: PersonAnswer }
  /** The command that waits for consent is to be changed: in a field, by a key of that, in $EDITOR. */
  | { type: "editCommand" }
  | { type: "editCommandKey"; data: string }
  | { type: "editCommandExternally" }
  /** An item of a picker was chosen, or one of its own keys pressed on it. */
  | { type: "choose"; id: string }
  | { type: "pickerKey"; action: ActionId; id: string | undefined }
  /** The picker's question was answered with yes. */
  | { type: "confirmPicker"; id: string | undefined }
  /** The line that the picker let the user write is ready. */
  | { type: "submitPicker"; id: string | undefined; text: string }
  | { type: "closePicker" }
  /** The name is that of a slash command. */
  | { type: "openPicker"; name: "tree" | "history" | "model" | "thinking" | "expand" }
  | { type: "nextApprovalMode" }
  /** Draws everything that may still change once more, as after a foreign program has written on the screen. */
  | { type: "redraw" }
  | { type: "externalEditor" }
  | { type: "suspend" }
  | { type: "exit" };

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

/** The view after such a text came while a dialog is open: it goes where one writes there, and is never an answer. Pure. */
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
