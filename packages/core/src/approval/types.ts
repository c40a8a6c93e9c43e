import type { SandboxState } from "../infrastructure/process/shell-wrapper.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { PermissionRule } from "../tool/types.ts";
import type { Grant } from "./grants.ts";

export type { PermissionRule };

/**
 * How requests that need approval are handled: the user is asked, they are allowed, or they are denied. `accept-edits`
 * is `ask` that also allows commands that only edit files inside the project. `plan` is `ask` for reading and refuses
 * everything that writes or runs.
 */
export type ApprovalMode = "ask" | "accept-edits" | "plan" | "auto" | "deny";

/** The rule that decided; shown with a question or refusal and included in the `approval_request` event. */
export type ApprovalGate =
  /** The model repeats itself; somebody has to say that the run continues. */
  | "loop"
  /** Inside the project, where reading and writing need no approval. */
  | "project"
  /** The session's own temporary files: they may be read, and those of commands written. */
  | "session_files"
  /** A shell command that can be proved to only read. */
  | "read_only_command"
  /** A shell command that only edits files inside the project, in the mode `accept-edits`. */
  | "accept_edits"
  /** A shell command, or another tool, that may do more than read. */
  | "shell_command"
  /** A shell command that contains more than plain words joined by `&&`, `||`, `;` or `|`. */
  | "command_syntax"
  /** Writing a file that controls what other programs do. */
  | "control_file"
  /** A path outside the project. */
  | "outside_project"
  /** Reading a file that may contain keys or passwords. */
  | "secret"
  /** A command that would get the value of a secret which the model sees only as a placeholder. */
  | "masked_secret"
  /** It is unknown which files the request accesses. */
  | "unknown_target"
  /** A shell command that runs in the sandbox, or is meant to run outside it. */
  | "sandbox"
  /** A host that a sandboxed command wants to reach. */
  | "network"
  /** A tool of an MCP server. */
  | "mcp"
  /** A rule of the configuration. */
  | "rule"
  /** An earlier "always" answer of the user. */
  | "grant"
  /** The mode `plan`, in which nothing is written or run. */
  | "plan_mode"
  /** The mode `auto` without a rule that denies. */
  | "auto_mode"
  /** An extension of the harness makes the verdict stricter. */
  | "extension"
  /** What a command has changed in a view of the project, which is shown before it is applied. */
  | "try";

/** The project and the user's decisions; the same for all requests of a session. */
export interface ApprovalContext {
  /** The project root, absolute. */
  root: string;
  /** The directory that relative paths in a request and commands start from, absolute. */
  cwd: string;
  /**
   * The session's private temporary directory, which holds complete outputs; it may always be read. Only used when a
   * path outside the project is to be read.
   */
  readonly temporaryDirectory?: string | undefined;
  /** Default: `ask`. */
  mode?: ApprovalMode | undefined;
  /** In the order of the configuration; none when left out. */
  rules?: readonly PermissionRule[] | undefined;
  /** The user's grants; none when left out. Deny rules take precedence. */
  grants?: readonly Grant[] | undefined;
  /** The directory that `~/` in a rule's pattern means. */
  home?: string | undefined;
  /** The environment whose PATH is searched for programs; that of this process when left out. */
  environment?: Environment | undefined;
  /** How shell commands run; called when a command is evaluated. When left out, commands run unsandboxed. */
  sandboxState?: (() => Promise<SandboxState>) | undefined;
  /**
   * False when changes of a sandboxed command could not be undone: such commands then need approval. True when left
   * out.
   */
  readonly canUndo?: boolean | undefined;
  /**
   * False when commits and refs that a command removes could not be restored: such commands then need approval in the
   * mode `auto`, too. True when left out.
   */
  readonly canRestoreHistory?: boolean | undefined;
}

/** The grant of one command, and the first words that a wider one would fix. */
export interface WidenableGrant {
  grant: Grant;
  /** The program with its command, such as `bun test`. */
  prefix?: readonly string[];
  /** The program alone. */
  program?: readonly string[];
}

/** The outcome for a request, with the gate that decided and the reason. */
export interface ApprovalVerdict {
  action: "allow" | "ask" | "deny";
  gate: ApprovalGate;
  /** A clause for the user, such as `/etc/hosts is outside the project /home/me/app`. */
  reason: string;
  /** For `ask`: the grants that an "always" answer creates, shown with the question. */
  grants?: readonly Grant[] | undefined;
  /** Those of the grants that the user may widen to other words: no rule asks about their commands. */
  widenable?: readonly WidenableGrant[] | undefined;
  /** For `ask` about a command line: its commands that need the approval, as far as they are known. */
  commands?: readonly (readonly { text: string; isGlob: boolean }[])[] | undefined;
  /** For `deny`: only the mode refuses the request; the user could have allowed it. */
  wouldAsk?: boolean | undefined;
  /** For reading a directory: true for a file (absolute, real) below it that must not be shown. */
  withholds?: ((path: string) => boolean) | undefined;
  /** A rule wants the command to be tried first, whether it is allowed or asked about. */
  tries?: true | undefined;
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * A verdict that needs no approval. In all three functions, `reason` is a clause for the user, without capital and full
 * stop.
 */
export function allow(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "allow", gate, reason };
}

/** A verdict that the mode decides: `ask` and `plan` ask the user, `auto` allows it, `deny` refuses it. */
export function ask(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "ask", gate, reason };
}

/** A refusal without a question: neither a mode nor a grant can change it. */
export function deny(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "deny", gate, reason };
}

/** The verdict of a rule that matched. */
export function verdictOf({ permission, pattern, action }: PermissionRule): ApprovalVerdict {
  const rule = `the rule ${action} ${permission} ${JSON.stringify(pattern)}`;
  if (action === "allow") return allow("rule", `${rule} allows it`);
  return action === "deny" ? deny("rule", `${rule} forbids it`) : ask("rule", `${rule} requires approval`);
}

/** The first of the strictest verdicts; undefined for none. */
export function strictest(verdicts: readonly ApprovalVerdict[]): ApprovalVerdict | undefined {
  return verdicts.reduce<ApprovalVerdict | undefined>(
    (worst, verdict) => (worst && STRICTNESS[worst.action] >= STRICTNESS[verdict.action] ? worst : verdict),
    undefined,
  );
}

/** How many directory entries the checks of one decision may still read in total; counted down. */
export interface EntryBudget {
  left: number;
}

// About fifty milliseconds; a line that takes longer needs approval.
const MAX_ENTRIES = 50_000;

/** The entry budget of one decision: created once and shared by all its checks. */
export function createEntryBudget(): EntryBudget {
  return { left: MAX_ENTRIES };
}
