import type { Block, ToolCallView } from "./blocks.ts";
import type { ActionId } from "./keys/actions.ts";

/** What the program is doing, for the spinner; `since` is milliseconds. Nothing moves while it is idle. */
export type Activity =
  | { type: "idle" }
  | { type: "waiting" | "thinking" | "answering"; since: number }
  | { type: "compacting"; since: number; tokens: number }
  | { type: "tool"; since: number; toolName: string }
  | { type: "retry"; since: number; attempt: number; until: number };

/** What the status line tells; what is unknown is left out. */
export interface Status {
  model: string;
  effort?: string | undefined;
  approvalMode: string;
  cwd: string;
  gitBranch?: string | undefined;
  /** Tokens of the newest request with its answer, and of the model's window. */
  contextTokens: number;
  contextWindow: number;
  /** Tokens and US dollars of the session; null once a price was unknown. */
  sessionTokens: number;
  cost: number | null;
}

/** An approval that waits for the user. All texts are safe for a terminal and show what cannot be seen. */
export interface ApprovalDialog {
  type: "approval";
  toolName: string;
  /** What asked, and why. */
  gate: string;
  reason: string;
  /** The whole of what would be done: the command, the path with its change, or the arguments. */
  subject: string;
  /** What "always" would allow, a line each; empty when it cannot be allowed for good. */
  always: readonly string[];
  /** The first row of the subject that is shown. */
  scroll: number;
  /** Nothing can be allowed before the end of the subject was on the screen. */
  wasEndSeen: boolean;
  /** True for a command, which can be edited instead of allowed. */
  isEditable: boolean;
  /** Set while the user writes the message of a rejection. */
  message?: string | undefined;
}

/** A list to choose from, in place of the editor. What choosing does is the picker's own; see `pickers/`. */
export interface PickerDialog {
  type: "picker";
  /** Which picker it is. */
  name: string;
  title: string;
  items: readonly PickerItem[];
  filter: string;
  selected: number;
  /** Keys beyond moving, choosing and closing, such as `{key: "ctrl+r", label: "rename"}`. */
  keys: readonly { key: string; label: string }[];
  /** Asked before something is done that cannot be undone, in place of the keys; only `y` is a yes. */
  question?: string | undefined;
  /** A line to write in, in place of the filter. */
  input?: { label: string; text: string } | undefined;
}

export interface PickerItem {
  id: string;
  label: string;
  /** Shown dim behind the label where there is room. */
  detail?: string;
  /** Further text that the filter looks at. */
  searchText?: string;
  /** How far it stands to the right, in steps. */
  depth?: number;
}

export type Dialog = ApprovalDialog | PickerDialog;

/** Everything the screen shows, as data. */
export interface View {
  /** Blocks whose last word is said, in order: written once above everything else, then taken out. */
  finished: readonly Block[];
  /** Blocks that may still change, top to bottom. */
  live: readonly Block[];
  activity: Activity;
  /** The last call that has ended, for looking at its result in full. */
  lastCall?: ToolCallView | undefined;
  /** What the user sent meanwhile and the model has not seen yet. */
  queued: readonly string[];
  dialog?: Dialog | undefined;
  /** A short line above the status line, such as "Press Ctrl+C again to leave"; gone with the next key. */
  hint?: string | undefined;
  /** A key that means more when it is pressed a second time before `until` (milliseconds). */
  armed?: { action: ActionId; until: number } | undefined;
  status: Status;
}

/** The view before anything has happened. */
export function createView(status: Pick<Status, "cwd"> & Partial<Status>): View {
  return {
    finished: [],
    live: [],
    activity: { type: "idle" },
    queued: [],
    status: {
      model: "…",
      approvalMode: "ask",
      contextTokens: 0,
      contextWindow: 0,
      sessionTokens: 0,
      cost: 0,
      ...status,
    },
  };
}
