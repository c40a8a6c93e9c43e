import type { NoticeLevel, ToolCallOutcome } from "@diligent/core/run";

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
  /** How many messages of a resumed session stand above what is shown. */
  | { type: "resumed"; hiddenMessages: number };

/** A command of the user's own. */
export type ShellBlock = Extract<Block, { type: "shell" }>;

/** Something that was run and has a result to look at. */
export type CallBlock = Extract<Block, { type: "tool" | "shell" }>;

/** True for a block whose result can be opened in full. */
export function isCallBlock(block: Block): block is CallBlock {
  return block.type === "tool" || block.type === "shell";
}
