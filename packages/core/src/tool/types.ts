import type { z } from "zod";
import type { ImageBlock } from "../types.ts";

/**
 * What a tool call wants to do, as passed to the approval policy. `details` is for matching rules and for showing.
 */
export interface ApprovalRequest {
  permission: "read" | "write" | "execute";
  toolName: string;
  /** One line for a person, such as `bash: npm test`. */
  description: string;
  /** `{path}` for files (absolute), `{command}` for the shell, else the arguments. */
  details?: Record<string, unknown>;
}

/** One rule about what needs asking; the last one that matches decides. */
export interface PermissionRule {
  permission: ApprovalRequest["permission"];
  /** A glob over the path from the project root, or over a simple command's words joined by one space. */
  pattern: string;
  action: "allow" | "deny" | "ask";
}

/** What would let a refused request through, beside the mode `auto`. */
export interface NeededApproval {
  /** The commands that need the approval, where these are not the whole line. */
  parts?: readonly string[];
  /** The rules that allow the request, all of them together; left out where no rule does. */
  rules?: readonly PermissionRule[];
}

/** `once` allows this call, `always` also those like it from now on, `reject` refuses it. */
export type ApprovalResponse = "once" | "always" | "reject";

/** An answer to an approval request with further information for the loop and the model. */
export interface ApprovalDecision {
  response: ApprovalResponse;
  /** For the model, when rejected: why, and what would be possible instead. */
  message?: string;
  /** Rejected because nobody was available to ask: the run ends with stop reason `approval`. */
  unattended?: boolean;
  /** Rejected by a person who wants the turn to end. */
  endTurn?: boolean;
  /** Rejected because the turn had ended, without being evaluated: the call was skipped. */
  skipped?: boolean;
  /**
   * The complete arguments as edited by the user; only with an approval. The call runs with them if they are valid
   * for its tool, and the model is notified. The policy has already evaluated them: nothing is asked again.
   */
  input?: Record<string, unknown> | undefined;
  /** Allowed except for some of the files below it; see `ToolContext.isWithheld`. */
  withholds?: ((path: string) => boolean) | undefined;
}

/** What a call would change, as a unified diff for a person; undefined if none can be made. Never rejects. */
export type Preview = () => Promise<string | undefined>;

/** A call with arguments other than the model's, as it is passed to the approval policy. */
export interface RevisedCall {
  /** All arguments, for `ApprovalDecision.input`. */
  input: Record<string, unknown>;
  request: ApprovalRequest;
  preview?: Preview | undefined;
}

/** The call with these arguments in place of its own; undefined if they do not fit its tool. Changes nothing. */
export type Revise = (changes: Record<string, unknown>) => RevisedCall | undefined;

/** What an approval decision about a call may use. */
export interface AskedCall {
  /** Left out if the call cannot say beforehand what it would change. */
  preview?: Preview | undefined;
  revise: Revise;
}

/** What a tool call may need besides its arguments. */
export interface ToolContext {
  toolCallId: string;
  signal: AbortSignal;
  /** For a tool that finds out only while running that it needs more than `Tool.approval` asked for. */
  approve(request: ApprovalRequest): Promise<ApprovalResponse>;
  /**
   * True for a file (absolute, real path) below the approved location that must not be shown, since reading it is
   * denied or needs approval of its own. Left out if there is no such file.
   */
  isWithheld?: ((path: string) => boolean) | undefined;
  /** The newest output of a tool that takes long, as text to show; the model does not get it. */
  onUpdate?(partialResult: string): void;
}

/** The outcome of a tool call. */
export interface ToolResult {
  /** What the model reads; long output is truncated. */
  output: string;
  /**
   * One or two lines for the model that follow the output and are never truncated, such as how to read the next
   * page.
   */
  note?: string;
  images?: ImageBlock[];
  isError?: boolean;
  /** For a screen: a unified diff, counts, an exit code. JSON only. */
  metadata?: Record<string, unknown>;
}

/**
 * Something the model can do. `execute` gets arguments that fit `parameters`. It may throw: the message becomes an
 * error result for the model, so it says what failed, on what, and what to try.
 */
export interface Tool<P extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  parameters: P;
  /**
   * What `toInputSchema` makes of `parameters`, if generated beforehand: a request then does not need to load
   * `parameters`.
   */
  inputSchema?: Record<string, unknown>;
  /**
   * False while the tool is of no use: it is not described to the model then. The tools are the beginning of every
   * request, so this changes only where the request changes anyway, as at a compaction.
   */
  isOffered?(): boolean;
  /** True when the call changes nothing: such calls run in parallel. */
  readOnly?: boolean;
  /** True for a call that waits for something, as polling does: repeating it is no sign of a loop. */
  waits?(input: Record<string, unknown>): boolean;
  /** True when a successful call changes files, so that repeating an earlier call may give a different result. */
  changesFiles?: boolean;
  /** Which end of a long output is kept; `head` by default. */
  keep?: "head" | "tail";
  /**
   * What to ask before it runs; undefined: nothing needs to be asked. A tool without this asks for `execute` with its
   * arguments.
   */
  approval?(args: z.output<P>): ApprovalRequest | undefined;
  /**
   * What the call would change, as a unified diff, for the user who is asked; undefined if it cannot be computed
   * now. Called only when somebody is asked. It has no side effects, and no model sees the diff.
   */
  preview?(args: z.output<P>): Promise<string | undefined>;
  execute(args: z.output<P>, context: ToolContext): Promise<ToolResult>;
}

/** Replaces secrets, in strings and in data that contains strings, by placeholders. */
export interface Redactor {
  /** The same object where there is nothing to replace. */
  redact<T>(value: T): T;
  /** For a text whose end has not arrived yet. */
  redactPart(text: string): string;
}

/** Saves an output whole in a file and returns its absolute path, or undefined when it could not be saved. */
export type KeepOutput = (toolCallId: string, output: string) => string | undefined;
