import type { PersonAnswer } from "../approval.ts";
import type { ActionId } from "./keys/actions.ts";
import type { Keymap } from "./keys/keymap.ts";
import type { View } from "./view.ts";

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
  | { type: "setPrompt"; text: string }
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
  | { type: "openPicker"; name: "tree" | "history" | "model" | "thinking" }
  | { type: "nextApprovalMode" }
  | { type: "showResult" }
  | { type: "externalEditor" }
  | { type: "suspend" }
  | { type: "exit" };
