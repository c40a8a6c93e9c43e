import type { MoveProgress } from "@diligent/core/light";
import type { NoticeLevel, ToolCallOutcome } from "@diligent/core/run";
import type { ApprovalMode } from "../arguments/command.ts";
import type { FileMove } from "../undo/describe.ts";
import type { ActionId } from "./keys/keymap.ts";

/** What the program is doing, for the spinner; `since` is milliseconds. Nothing moves while it is idle. */
export type Activity =
  | { type: "idle" }
  | { type: "waiting" | "thinking" | "answering"; since: number }
  /** `retry`: the request for the summary has failed and is made again. */
  | { type: "compacting"; since: number; tokens: number; retry?: Retry }
  | { type: "tool"; since: number; toolName: string }
  /** Files are taken back or brought back; `progress` once it takes a while. */
  | { type: "files"; since: number; move: FileMove; progress?: MoveProgress | undefined }
  | ({ type: "retry"; since: number } & Retry);

/** A request that is made again, at `until` in milliseconds; `reason` says why. */
export interface Retry {
  attempt: number;
  until: number;
  reason?: string;
}

/** What the status line tells; what is unknown is left out. */
export interface Status {
  model: string;
  effort?: string | undefined;
  approvalMode: ApprovalMode;
  cwd: string;
  gitBranch?: string | undefined;
  /** Whether the model's commands run in a sandbox, as far as it is known. */
  isSandboxed?: boolean | undefined;
  /** Tokens of the newest request with its answer, and of the model's window. */
  contextTokens: number;
  /** True where nobody has counted them. */
  isContextEstimated?: boolean | undefined;
  /** From so many on the conversation is summarised by itself; undefined where it is not. */
  compactsAt?: number | undefined;
  contextWindow: number;
  /** Tokens and US dollars of the session; null once a price was unknown. */
  sessionTokens: number;
  cost: number | null;
}

/** A line of what somebody is asked to judge; safe for a terminal, with what cannot be seen shown. */
export interface EscapedLine {
  text: string;
  /** `note` is said by us about the rest, `quote` by the model for itself; `grant` is what "always" would allow. */
  look: "title" | "subject" | "added" | "removed" | "note" | "quote" | "grant";
}

/** An approval that waits for the user. */
export interface ApprovalDialog {
  type: "approval";
  /** All that is to be read before it is allowed: who asks and why, the whole of what would be done, what "always" means. */
  content: readonly EscapedLine[];
  /** False where it cannot be allowed for good. */
  hasAlways: boolean;
  /** What would be allowed for good, word for word. */
  stored: readonly EscapedLine[];
  /** What is asked here is whether that is meant: then the question that it was an answer to, and the answer's key. */
  confirms?: { scope: "session" | "project"; question: ApprovalDialog; key: string } | undefined;
  /** It came while the user was writing: keys go on into the prompt until one asks for the dialog. */
  isUnfocused?: boolean | undefined;
  /** The prompt that is being written is shown below. */
  hasDraft?: boolean | undefined;
  /** The command is being changed, in a field of its own. */
  isEditing?: boolean | undefined;
  /** The first row of the content that is shown. */
  scroll: number;
  /** Nothing can be allowed before the end of the content was on the screen. */
  wasEndSeen: boolean;
  /** True for a command, which can be edited instead of allowed. */
  isEditable: boolean;
  /** Until then (milliseconds) a key was meant for what was on the screen before. */
  guardedUntil: number;
  /** The key that was not taken for an answer last, when it was pressed (milliseconds), and all of them that write. */
  ignored?: { key: string; at: number; typed: readonly string[] } | undefined;
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
  /** What its keys do beyond moving, choosing and closing, such as `{action: "list.rename", label: "rename"}`. */
  keys: readonly { action: ActionId; label: string }[];
  /** Asked before something is done that cannot be undone, in place of the keys; only `y` is a yes. */
  question?: string | undefined;
  /** A line to write in, in place of the filter. */
  input?: { label: string; text: string; isHidden?: boolean } | undefined;
}

/** A line of a list. `id` is what choosing it gives; it is unique in the list. */
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

/** What stands in the editor's place and takes the keys. */
export type Dialog = ApprovalDialog | PickerDialog;

/** `id` is that of the prompt's `steering` event, once it was sent into a run. */
export interface QueuedPrompt {
  id: string;
  text: string;
}

/** Everything the screen shows, as data. */
export interface View {
  /** Blocks whose last word is said, in order: written once above everything else, then taken out. */
  finished: readonly Block[];
  /** Blocks that may still change, top to bottom. */
  live: readonly Block[];
  activity: Activity;
  /** What can be looked at in full, oldest first: the last thoughts and calls that have ended. */
  expandable: readonly ExpandableBlock[];
  /** The last call that has ended, for looking at its result in full. */
  lastCall?: CallBlock | undefined;
  /** A command of the user's own that is running. */
  shell?: ShellBlock | undefined;
  /** What the user sent meanwhile and the model has not seen yet. */
  queued: readonly QueuedPrompt[];
  dialog?: Dialog | undefined;
  /** A short line above the status line, such as "Press Ctrl+C again to leave"; gone with the next key. */
  hint?: string | undefined;
  /** A key that means more when it is pressed a second time before `until` (milliseconds). */
  armed?: { action: ActionId; until: number } | undefined;
  status: Status;
}

/** True while the model, a compaction or a command of the user's own is at work. */
export function isWorking({ activity, shell }: Pick<View, "activity" | "shell">): boolean {
  return activity.type !== "idle" || shell !== undefined;
}

/** The view with blocks below everything that is finished. */
export function finish(view: View, ...blocks: readonly Block[]): View {
  return blocks.length === 0 ? view : { ...view, finished: [...view.finished, ...blocks] };
}

// A session may have thousands, each with a result of its own.
const MAX_EXPANDABLE = 50;

/** The view in which the blocks that can be looked at in full are remembered. */
export function rememberExpandable(view: View, blocks: readonly Block[]): View {
  const found = blocks.filter(isExpandable);
  if (found.length === 0) return view;
  return { ...view, expandable: [...view.expandable, ...found].slice(-MAX_EXPANDABLE) };
}

/** A word of the program's own. */
export function notice(level: NoticeLevel, text: string): Block {
  return { type: "notice", level, text };
}

/** The view before anything has happened. */
export function createView(status: Pick<Status, "cwd"> & Partial<Status>): View {
  return {
    finished: [],
    live: [],
    activity: { type: "idle" },
    expandable: [],
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

/** A tool call as the screen follows it; times are milliseconds of the clock that events are applied with. */
export interface ToolCallView {
  toolCallId: string;
  toolName: string;
  /** The arguments, an object as a rule; whatever the model sent otherwise. */
  input: unknown;
  startedAt: number;
  /** The newest output while it runs. */
  partial?: string;
  /** Set when it has ended. */
  result?: {
    output: string;
    isError: boolean;
    /** Of an error; it has failed where it is left out. */
    outcome?: ToolCallOutcome | undefined;
    metadata: Readonly<Record<string, unknown>>;
    endedAt: number;
  };
}

/**
 * A piece of the transcript. All texts are as they came: views make them safe. A block that is finished is written
 * into the terminal's scrollback once and never again.
 */
export type Block =
  | { type: "prompt"; text: string }
  /**
   * A part of an answer, whole Markdown blocks. `uncutChars`: so much of it was looked through for the end of a block, in
   * vain. `written`: it goes on with what is written already, of which so many characters are still at its beginning, as
   * `shownText` counts them.
   */
  | { type: "answer"; markdown: string; uncutChars?: number; written?: number }
  | { type: "thinking"; text: string; startedAt: number; endedAt?: number }
  | { type: "tool"; call: ToolCallView }
  /** A command that the user ran in the shell themselves; `isTold` where the model knows of it. */
  | { type: "shell"; isTold: boolean; call: ToolCallView }
  | { type: "notice"; level: NoticeLevel; text: string }
  /** What a command of the user's printed: plain lines. */
  | { type: "output"; text: string }
  /** What became of a file, as a unified diff. */
  | { type: "change"; path: string; diff: string; added: number; removed: number }
  /** What stands at the very top of a session. */
  | { type: "opening"; version: string; model: string; cwd: string; isBoxed: boolean }
  /** How many messages of a resumed session stand above what is shown. */
  | { type: "resumed"; hiddenMessages: number };

/** A command of the user's own. */
export type ShellBlock = Extract<Block, { type: "shell" }>;

/** Something that was run and has a result to look at. */
export type CallBlock = Extract<Block, { type: "tool" | "shell" }>;

/** What the screen shows less of than there is. */
export type ExpandableBlock = CallBlock | Extract<Block, { type: "thinking" }>;

function isExpandable(block: Block): block is ExpandableBlock {
  return block.type === "thinking" ? block.text.trim() !== "" : isCallBlock(block);
}

/** True for a block whose result can be opened in full. */
export function isCallBlock(block: Block): block is CallBlock {
  return block.type === "tool" || block.type === "shell";
}
