import type { PersonAnswer } from "../approval.ts";

/** What a key asks for beyond a change of the view; `app.ts` carries it out. */
export type Effect =
  /** The key belongs to the text editor. */
  | { type: "edit"; data: string }
  | { type: "setPrompt"; text: string }
  | { type: "abort" }
  /** What waited for the model goes back into the editor. */
  | { type: "takeBack"; which: "last" | "all" }
  | { type: "answer"; answer: PersonAnswer }
  | { type: "editCommand" }
  /** An item of a picker was chosen, or one of its own keys pressed on it. */
  | { type: "choose"; picker: string; id: string }
  | { type: "pickerKey"; picker: string; key: string; id: string | undefined }
  /** The picker's question was answered with yes. */
  | { type: "confirmPicker"; picker: string; id: string | undefined }
  /** The line that the picker let the user write is ready. */
  | { type: "submitPicker"; picker: string; id: string | undefined; text: string }
  | { type: "closePicker"; picker: string }
  /** The name is that of a slash command. */
  | { type: "openPicker"; name: "tree" | "history" | "model" | "thinking" }
  | { type: "nextApprovalMode" }
  | { type: "showResult" }
  | { type: "externalEditor" }
  | { type: "suspend" }
  | { type: "exit" };
