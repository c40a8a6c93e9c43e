import type { z } from "zod";
import type { ImageBlock } from "../types.ts";

/** What a tool call wants to do, put to whoever decides. `details` is for matching rules and for showing. */
export interface ApprovalRequest {
  permission: "read" | "write" | "execute";
  toolName: string;
  /** One line for a person, such as `bash: npm test`. */
  description: string;
  /** `{path}` for files (absolute), `{command}` for the shell, else the arguments. */
  details?: Record<string, unknown>;
}

/** One rule about what needs asking; of those that match, the last counts. */
export interface PermissionRule {
  permission: ApprovalRequest["permission"];
  /** A glob over the path from the project root, or over a simple command's words joined by one space. */
  pattern: string;
  action: "allow" | "deny" | "ask";
}

/** `once` allows this call, `always` also those like it from now on, `reject` refuses it. */
export type ApprovalResponse = "once" | "always" | "reject";

/** An answer to an approval request with what the loop and the model should know beyond it. */
export interface ApprovalDecision {
  response: ApprovalResponse;
  /** For the model, when rejected: why, and what would be possible instead. */
  message?: string;
  /** Rejected because nobody was there to ask: the run ends with stop reason `approval`. */
  unattended?: boolean;
  /** Rejected by a person who wants the turn to end. */
  endTurn?: boolean;
  /** Rejected since the turn had ended, without anybody having judged it: the call was skipped. */
  skipped?: boolean;
  /**
   * What the person made of the call's arguments, all of them; only with a yes. The call runs with them, once they were
   * found to fit its tool, and the model is told. Whoever decides has judged them: nothing is asked again.
   */
  input?: Record<string, unknown> | undefined;
  /** Allowed but for some of the files below it; see `ToolContext.isWithheld`. */
  withholds?: ((path: string) => boolean) | undefined;
}

/** What a call would change, as a unified diff for a person; undefined where none can be made. Never rejects. */
export type Preview = () => Promise<string | undefined>;

/** A call with other arguments than the model's, as it would be put to whoever decides. */
export interface RevisedCall {
  /** All of them, for `ApprovalDecision.input`. */
  input: Record<string, unknown>;
  request: ApprovalRequest;
  preview?: Preview | undefined;
}

/** The call with these arguments in place of its own ones; undefined where they do not fit its tool. Changes nothing. */
export type Revise = (changes: Record<string, unknown>) => RevisedCall | undefined;

/** What whoever decides about a call may want of it. */
export interface AskedCall {
  /** Left out where the call cannot say beforehand what it would change. */
  preview?: Preview | undefined;
  revise: Revise;
}

/** What a tool call may need beyond its arguments. */
export interface ToolContext {
  toolCallId: string;
  signal: AbortSignal;
  /** For a tool that finds out only while it runs that it needs more than `Tool.approval` asked for. */
  approve(request: ApprovalRequest): Promise<ApprovalResponse>;
  /**
   * True for a file (absolute, real) below the place that was asked for of which nothing may be shown, since it may not be
   * read, or not without being asked about. Left out where there is no such file.
   */
  isWithheld?: ((path: string) => boolean) | undefined;
  /** The newest output of a tool that takes long, as text to show; not what the model gets. */
  onUpdate?(partialResult: string): void;
}

/** What came of a tool call. */
export interface ToolResult {
  /** What the model reads; a long one is cut. */
  output: string;
  /** A line or two for the model that follow the output and are never cut, such as how to read on. */
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
  /** What `toInputSchema` makes of `parameters`, where it was made beforehand: then a request does without the latter. */
  inputSchema?: Record<string, unknown>;
  /** True when the call changes nothing: such calls run side by side. */
  readOnly?: boolean;
  /** True when a successful call changes files, so that what was done before may come out differently now. */
  changesFiles?: boolean;
  /** Which end of a long output is kept; `head` when left out. */
  keep?: "head" | "tail";
  /**
   * What to ask before it runs; undefined: nothing needs to be asked. A tool without this asks for `execute` with its
   * arguments.
   */
  approval?(args: z.output<P>): ApprovalRequest | undefined;
  /**
   * What the call would change, as a unified diff, for the person who is asked; undefined where that cannot be told now.
   * Called only when somebody is asked. It changes nothing and remembers nothing, and no model sees the diff.
   */
  preview?(args: z.output<P>): Promise<string | undefined>;
  execute(args: z.output<P>, context: ToolContext): Promise<ToolResult>;
}

/** Keeps an output whole in a file and returns its absolute path, or undefined when it could not be kept. */
export type KeepOutput = (toolCallId: string, output: string) => string | undefined;
