import type { z } from "zod";
import type { ImageBlock } from "../types.ts";

/** A tool call's request, as passed to the approval policy. `details` is for matching rules and for display. */
export interface ApprovalRequest {
  permission: "read" | "write" | "execute" | "fetch" | "mcp";
  toolName: string;
  /** One line for the user, such as `bash: npm test`. */
  description: string;
  /**
   * `{path}` for a file (absolute), `{files: [{path}]}` for several, `{command}` for the shell, `{host, port}` for
   * `fetch`, with the `url` for a page that the model wants to read, `ServerToolDetails` for `mcp`, else the arguments.
   */
  details?: Record<string, unknown>;
  /** The sub-agent whose call it is; left out for a call of the session itself. */
  agent?: { id: string; name: string; description: string };
}

/** What is known about a call of an MCP server's tool. */
export interface ServerToolDetails {
  /** The server's name in the configuration. */
  server: string;
  /** The tool's name as the server gives it. */
  tool: string;
  /** The tool's name for the model without its prefix, such as `github__create_issue`. */
  name: string;
  arguments: Record<string, unknown>;
  /** A hash of how the server is configured, and of the tool's description and schema. */
  definition: string;
  /** The server is trusted, and calls the tool read-only. */
  isReading?: boolean;
  /** How description and schema differ from those that were allowed; left out where they are the same. */
  change?: string;
}

/** One rule about approvals; the last one that matches decides. */
export interface PermissionRule {
  permission: ApprovalRequest["permission"];
  /**
   * A glob over the path from the project root, or over a simple command's words joined by one space; a host; for `mcp`
   * a glob over `SERVER__TOOL`.
   */
  pattern: string;
  /** `try`: a command runs in a view of the project, and its changes are applied only if the user says so. */
  action: "allow" | "deny" | "ask" | "try";
}

/** What would let a refused request through. */
export interface NeededApproval {
  /** The mode that allows it; left out where it is on already and not enough. */
  mode?: "auto";
  /** The commands that need the approval, where these are not the whole line. */
  parts?: readonly string[];
  /** The rules that together allow the request; left out when no rule does. */
  rules?: readonly PermissionRule[];
}

/** One scope that an "always" answer can have. */
export interface OfferedChoice {
  /** Exactly what was shown, the program with its command, such as `bun test`, or every call of the program. */
  reach: "exact" | "prefix" | "program";
  /** What it allows, one phrase for each command, for people. */
  allows: readonly string[];
  /** Up to three commands that it covers, with quotes where needed. */
  examples: readonly string[];
}

/** `once` allows this call, `always` also equal ones from now on, `reject` refuses it. */
export type ApprovalResponse = "once" | "always" | "reject";

/** An answer to an approval request with further information for the loop and the model. */
export interface ApprovalDecision {
  response: ApprovalResponse;
  /** For the model, when rejected: the reason, and possible alternatives. */
  message?: string;
  /** Rejected because no user was available: the run ends with stop reason `approval`. */
  unattended?: boolean;
  /** Rejected by a user who wants the turn to end. */
  endTurn?: boolean;
  /** Skipped without evaluation because the turn had ended. */
  skipped?: boolean;
  /**
   * The complete arguments as edited by the user; only with an approval. The call runs with them if they are valid for
   * its tool, and the model is notified. The policy has already evaluated them: they need no further approval.
   */
  input?: Record<string, unknown> | undefined;
  /** Allowed except for some of the files below it; see `ToolContext.isWithheld`. */
  withholds?: ((path: string) => boolean) | undefined;
  /** Only with an approval of a command: it is only tried; see `ToolContext.isTried`. */
  tries?: true | undefined;
  /** See `ToolContext`. */
  insertsSecrets?: boolean | undefined;
}

/** The changes a call would make, as a unified diff for the user; undefined if none can be computed. Never rejects. */
export type Preview = () => Promise<string | undefined>;

/** A call with changed arguments, as passed to the approval policy. */
export interface RevisedCall {
  /** All arguments, for `ApprovalDecision.input`. */
  input: Record<string, unknown>;
  request: ApprovalRequest;
  preview?: Preview | undefined;
}

/**
 * Creates the call with these arguments in place of its own; undefined if they are invalid for its tool. Changes
 * nothing.
 */
export type Revise = (changes: Record<string, unknown>) => RevisedCall | undefined;

/** The parts of a call that an approval decision may use. */
export interface AskedCall {
  /** Left out if the call cannot predict its changes. */
  preview?: Preview | undefined;
  revise: Revise;
  /** The arguments of the call. */
  input: Record<string, unknown>;
  /** See `ApprovalHandle`. */
  advice?: { action: "allow" | "ask"; reason: string } | undefined;
}

/** What a tool call may need besides its arguments. */
export interface ToolContext {
  toolCallId: string;
  signal: AbortSignal;
  /** For a tool that detects while running that it needs more than `Tool.approval` requested. */
  approve(request: ApprovalRequest): Promise<ApprovalResponse>;
  /** The same with the reason of a refusal. */
  decide?(request: ApprovalRequest): Promise<ApprovalDecision>;
  /**
   * True for a file (absolute, real path) below the approved location that must not be shown, because reading it is
   * denied or needs separate approval. Left out if there is no such file.
   */
  isWithheld?: ((path: string) => boolean) | undefined;
  /** For a command: it runs in a view of the project, and its changes need a further approval. */
  isTried?: true | undefined;
  /** True if the user has been asked whether the command gets the values of the placeholders in it, and agreed. */
  insertsSecrets?: boolean | undefined;
  /** Shows the newest output of a long-running tool; the model does not receive it. */
  onUpdate?(partialResult: string): void;
  /** For a tool whose call starts a run of its own; left out where there is none to share with. */
  run?: SharedRun | undefined;
  /**
   * Runs a call of another tool as a part of this one, with all that holds for such a call: rules, hooks, questions,
   * undo. Undefined if the session does not have that tool.
   */
  perform?(toolName: string, input: Record<string, unknown>): Promise<ToolResult | undefined>;
}

/** What a run shares with the runs that its calls start. */
export interface SharedRun {
  budget: RunBudget;
  /** Awaited before something in the project is changed, so that it can be undone with this run. */
  beforeChanges(): Promise<void>;
  /** Called when that change is made. */
  afterChanges(): void;
  /** How many times files have changed so far; see `ChangeTracker`. */
  countChanges(): Promise<number | undefined>;
  /** Called when a run that the call has started ended because a request was rejected: this run treats it as its own. */
  reject(decision: ApprovalDecision): void;
}

/** The limits of a run and of the runs that it starts, together. */
export interface RunBudget {
  /** `maxTurns` counts model replies, `maxCost` US dollars; unlimited where they are left out. */
  readonly limits: { readonly maxTurns?: number | undefined; readonly maxCost?: number | undefined };
  /** True once the cost limit is reached: no further request is made then. */
  readonly isOverCost: boolean;
  /** Counts one more turn; false if there is none left. */
  takeTurn(): boolean;
  /** US dollars; null if the price is unknown. */
  addCost(cost: number | null): void;
  /**
   * Resolves when a request may be made whose cost is estimated to be at most `estimate` US dollars (null: unknown): all
   * runs together exceed the cost limit by one request at most. Call the result when its cost is counted.
   */
  admit(estimate: number | null, signal: AbortSignal): Promise<() => void>;
}

/** The result of a tool call. */
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
  /** For a screen: a unified diff, counts, an exit code. Only JSON values. */
  metadata?: Record<string, unknown>;
  /** The names of deferred tools that the model may call from now on. */
  foundTools?: string[];
}

/**
 * A tool that the model can call. `execute` receives arguments that match `parameters`. It may throw: the message
 * becomes an error result for the model, so it must say what failed, on what, and what to try.
 */
export interface Tool<P extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  parameters: P;
  /**
   * The result of `toInputSchema` for `parameters`, generated beforehand: a request then does not need to load
   * `parameters`.
   */
  inputSchema?: Record<string, unknown>;
  /**
   * False while the tool is useless: it is not offered to the model then. Tool definitions are the beginning of every
   * request, so this may only change when the request changes anyway, as at a compaction.
   */
  isOffered?(): boolean;
  /**
   * True while every call is refused, as in the mode `plan`: the tool is still offered, but nothing asks the model to
   * call it.
   */
  isRefused?(): boolean;
  /** See `ToolDefinition.isDeferred`. */
  isDeferred?: true;
  /** Finds a tool that is not in any list, such as one of a server that is still starting. */
  findOther?(name: string): Tool | undefined;
  /** Described to the model only together with the tool of that name. */
  goesWith?: string;
  /** True when the call changes nothing: such calls run in parallel. */
  readOnly?: boolean;
  /** What its calls need, if that does not follow from the fields around it. */
  permission?: ApprovalRequest["permission"];
  /** True for a read-only call that does not run in parallel with others, such as a question to the user. */
  runsAlone?(input: Record<string, unknown>): boolean;
  /** True for a call that waits or polls: repeating it does not indicate a loop. */
  waits?(input: Record<string, unknown>): boolean;
  /** True when a successful call changes files, so that repeating an earlier call may give a different result. */
  changesFiles?: boolean;
  /** Which end of a long output is kept, or `both`, then more of the beginning; `head` by default. */
  keep?: "head" | "tail" | "both";
  /**
   * The request for approval before it runs; undefined when none is needed. A tool without this function requests
   * `execute` with its arguments.
   */
  approval?(args: z.output<P>): ApprovalRequest | undefined;
  /**
   * The changes a call would make, as a unified diff for the user who is asked; undefined if they cannot be computed
   * now. Only called when the user is asked. It has no side effects, and the model does not receive the diff.
   */
  preview?(args: z.output<P>): Promise<string | undefined>;
  /**
   * Called when the model begins to write a call, whose arguments take a while to arrive: it starts to load what a call
   * needs, and does nothing else. It must not throw.
   */
  prepare?(): void;
  execute(args: z.output<P>, context: ToolContext): Promise<ToolResult>;
}

/** Replaces secrets by placeholders, in strings and in data that contains strings. */
export interface Redactor {
  /** Returns the same object when there is nothing to replace. */
  redact<T>(value: T): T;
  /** For an unfinished text. */
  redactPart(text: string): string;
  /** Placeholders in a text that comes from elsewhere, before it is redacted: they are not restored. */
  noteForeign?(text: string): void;
}

/** Saves a complete output in a file and returns its absolute path, or undefined when that failed. */
export type KeepOutput = (toolCallId: string, output: string) => string | undefined;
