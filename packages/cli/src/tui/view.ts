import type { MoveProgress } from "@diligent/core/light";
import type { ExtensionRenderer, NoticeLevel, TodoItem, ToolCallOutcome } from "@diligent/core/run";
import type { ApprovalMode } from "../arguments/command.ts";
import type { FileMove } from "../undo/describe.ts";
import type { ActionId } from "./keys/keymap.ts";

/** The current activity, for the spinner; `since` is milliseconds. Nothing moves while idle. */
export type Activity =
  | { type: "idle" }
  | { type: "waiting" | "thinking" | "answering"; since: number }
  /** `retry`: the request for the summary failed and is being repeated. */
  | { type: "compacting"; since: number; tokens: number; retry?: Retry }
  | { type: "tool"; since: number; toolName: string }
  /** Files are being undone or redone; `progress` is set once it takes a while. */
  | { type: "files"; since: number; move: FileMove; progress?: MoveProgress | undefined }
  | ({ type: "retry"; since: number } & Retry);

/** A request that will be retried at `until`, in milliseconds; `reason` says why. */
export interface Retry {
  attempt: number;
  until: number;
  reason?: string;
}

/** The content of the status line; unknown values are left out. */
export interface Status {
  model: string;
  effort?: string | undefined;
  approvalMode: ApprovalMode;
  cwd: string;
  gitBranch?: string | undefined;
  /** How extensions show calls; see `ToolRenderContext`. */
  renderers?: ReadonlyMap<string, ExtensionRenderer> | undefined;
  /** Whether the model's commands run in a sandbox, if known. */
  isSandboxed?: boolean | undefined;
  /** How many commands run in the background. */
  jobs?: number | undefined;
  /** Tokens of the latest request with its answer, and of the model's window. */
  contextTokens: number;
  /** True if the tokens are estimated. */
  isContextEstimated?: boolean | undefined;
  /** The token count at which the conversation is summarized automatically; undefined if it is not. */
  compactsAt?: number | undefined;
  contextWindow: number;
  /** Tokens and US dollars of the session; null once a price was unknown. */
  sessionTokens: number;
  cost: number | null;
}

/** A line of a request that the user decides about; safe for a terminal, with invisible characters shown. */
export interface EscapedLine {
  text: string;
  /**
   * `note` is ours, about the rest; `quote` is the model's own text; `grant` is what "always" would allow.
   */
  look: "title" | "subject" | "added" | "removed" | "note" | "quote" | "grant";
}

/** One scope that "always" can have. */
export interface StoredChoice {
  reach: "exact" | "prefix" | "program";
  lines: readonly EscapedLine[];
}

/** The second step of an "always" answer. */
interface AlwaysConfirmation {
  scope: "session" | "project";
  question: ApprovalDialog;
  key: string;
  /** The index of the choice that is shown. */
  choice: number;
}

/** An approval that waits for the user. */
export interface ApprovalDialog {
  type: "approval";
  /** Everything to read before approving: who asks and why, the complete action, and what "always" means. */
  content: readonly EscapedLine[];
  /** False if it cannot be allowed permanently. */
  hasAlways: boolean;
  /** What could be allowed permanently, with examples: exactly what is asked first, then what covers more. */
  stored: readonly StoredChoice[];
  /** Set while the user confirms one of these: the original question, and the key of its answer. */
  confirms?: AlwaysConfirmation | undefined;
  /**
   * It appeared while the user was typing: keys still go into the prompt until one switches to the dialog.
   */
  isUnfocused?: boolean | undefined;
  /** The prompt being typed is shown below. */
  hasDraft?: boolean | undefined;
  /** The command is being edited in its own field. */
  isEditing?: boolean | undefined;
  /** The first row of the content that is shown. */
  scroll: number;
  /** Nothing can be approved before the end of the content was on the screen. */
  wasEndSeen: boolean;
  /** True for a command, which can be edited instead of approved. */
  isEditable: boolean;
  /** True for a command that can be tried first. */
  mayTry?: boolean | undefined;
  /** True for the changes of a command that was tried: they are applied or dropped. */
  isTried?: boolean | undefined;
  /** Until this time (milliseconds), keys were meant for the previous screen. */
  guardedUntil: number;
  /**
   * The last key that was not accepted as an answer, its time (milliseconds), and all such keys that type
   * text.
   */
  ignored?: { key: string; at: number; typed: readonly string[] } | undefined;
  /** Set while the user types the message of a denial. */
  message?: string | undefined;
}

/**
 * A list to choose from, shown instead of the editor. The picker itself defines what choosing does; see
 * `pickers/`.
 */
export interface PickerDialog {
  type: "picker";
  /** The name of the picker. */
  name: string;
  title: string;
  items: readonly PickerItem[];
  filter: string;
  selected: number;
  /**
   * The effects of its own keys, in addition to moving, choosing and closing, such as `{action:
   * "list.rename", label: "rename"}`.
   */
  keys: readonly { action: ActionId; label: string }[];
  /** A question before something that cannot be undone, shown instead of the keys; only `y` confirms. */
  question?: string | undefined;
  /** An input line, shown instead of the filter. */
  input?: { label: string; text: string; isHidden?: boolean } | undefined;
}

/** An item of a list. `id` is returned when it is chosen; it is unique in the list. */
export interface PickerItem {
  id: string;
  label: string;
  /** Shown dim after the label if there is space. */
  detail?: string;
  /** Further text for the filter. */
  searchText?: string;
  /** Its indentation, in steps. */
  depth?: number;
}

/** What is shown instead of the editor and takes the keys. */
export type Dialog = ApprovalDialog | PickerDialog;

/** `id` is that of the prompt's `steering` event, once it was sent into a run. */
export interface QueuedPrompt {
  id: string;
  text: string;
}

/** Everything that the screen shows, as data. */
export interface View {
  /** Finished blocks, in order: written once above everything else, then removed. */
  finished: readonly Block[];
  /** Blocks that may still change, top to bottom. */
  live: readonly Block[];
  activity: Activity;
  /** What can be shown in full, oldest first: the last finished thoughts and calls. */
  expandable: readonly ExpandableBlock[];
  /** The last finished call, whose result can be shown in full. */
  lastCall?: CallBlock | undefined;
  /** A shell command of the user that is running. */
  shell?: ShellBlock | undefined;
  /** The model's checklist, shown above the prompt. */
  todos: readonly TodoItem[];
  /** Prompts that the user has sent and the model has not seen yet. */
  queued: readonly QueuedPrompt[];
  dialog?: Dialog | undefined;
  /** A short line above the status line, such as "Press Ctrl+C again to quit"; the next key removes it. */
  hint?: string | undefined;
  /** A key with a different meaning if it is pressed again before `until` (milliseconds). */
  armed?: { action: ActionId; until: number } | undefined;
  status: Status;
}

/** True while the model, a compaction or a shell command of the user is running. */
export function isWorking({ activity, shell }: Pick<View, "activity" | "shell">): boolean {
  return activity.type !== "idle" || shell !== undefined;
}

/** The view with blocks added below everything finished. */
export function finish(view: View, ...blocks: readonly Block[]): View {
  return blocks.length === 0 ? view : { ...view, finished: [...view.finished, ...blocks] };
}

// A session may have thousands, each with a result of its own.
const MAX_EXPANDABLE = 50;

/** The view that remembers the blocks that can be shown in full. */
export function rememberExpandable(view: View, blocks: readonly Block[]): View {
  const found = blocks.filter(isExpandable);
  if (found.length === 0) return view;
  return { ...view, expandable: [...view.expandable, ...found].slice(-MAX_EXPANDABLE) };
}

/** A message of the program itself. */
export function notice(level: NoticeLevel, text: string): Block {
  return { type: "notice", level, text };
}

/** The initial view. */
export function createView(status: Pick<Status, "cwd"> & Partial<Status>): View {
  return {
    finished: [],
    live: [],
    activity: { type: "idle" },
    expandable: [],
    todos: [],
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

/** A tool call as the screen tracks it; times are milliseconds of the clock that events are applied with. */
export interface ToolCallView {
  toolCallId: string;
  toolName: string;
  /** The arguments: usually an object, otherwise whatever the model sent. */
  input: unknown;
  startedAt: number;
  /** The latest output while it runs. */
  partial?: string;
  /** Set when it has ended. */
  result?: {
    output: string;
    isError: boolean;
    /** The kind of error; if omitted, the call failed. */
    outcome?: ToolCallOutcome | undefined;
    metadata: Readonly<Record<string, unknown>>;
    endedAt: number;
  };
}

/**
 * A part of the transcript. All texts are raw: views make them safe. A finished block is written to the
 * terminal's scrollback once and never again.
 */
export type Block =
  | { type: "prompt"; text: string }
  /**
   * A part of an answer, in whole Markdown blocks. `uncutChars`: the number of characters already searched
   * for a block end. `written`: the block continues one that is already written; this many characters at its
   * beginning, as counted by `shownText`, are written.
   */
  | { type: "answer"; markdown: string; uncutChars?: number; written?: number }
  | { type: "thinking"; text: string; startedAt: number; endedAt?: number }
  | { type: "tool"; call: ToolCallView }
  /** A shell command that the user ran; `isSharedWithModel` if the model knows of it. */
  | { type: "shell"; isSharedWithModel: boolean; call: ToolCallView }
  | { type: "notice"; level: NoticeLevel; text: string }
  /** The output of a slash command: plain lines. */
  | { type: "output"; text: string }
  /** The changes of a file, as a unified diff. */
  | { type: "change"; path: string; diff: string; added: number; removed: number }
  /** The first line of a session. */
  | { type: "opening"; version: string; model: string; cwd: string; isSandboxed: boolean }
  /** The number of messages of a resumed session above those shown. */
  | { type: "resumed"; hiddenMessages: number };

/** A shell command of the user. */
export type ShellBlock = Extract<Block, { type: "shell" }>;

/** Something that ran and has a result. */
export type CallBlock = Extract<Block, { type: "tool" | "shell" }>;

/** A block that the screen abbreviates. */
export type ExpandableBlock = CallBlock | Extract<Block, { type: "thinking" }>;

function isExpandable(block: Block): block is ExpandableBlock {
  return block.type === "thinking" ? block.text.trim() !== "" : isCallBlock(block);
}

/** True for a block whose result can be opened in full. */
export function isCallBlock(block: Block): block is CallBlock {
  return block.type === "tool" || block.type === "shell";
}
