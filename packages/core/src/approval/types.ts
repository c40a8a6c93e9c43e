import type { SandboxState } from "../infrastructure/process/shell-wrapper.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { PermissionRule } from "../tool/types.ts";
import type { Grant } from "./grants.ts";

export type { PermissionRule };

/**
 * How requests that need approval are handled: the user is asked, they are allowed, or they are denied.
 * `accept-edits` is `ask` that also allows commands that only edit files inside the project. `plan` is `ask` for
 * reading and refuses whatever writes or runs.
 */
export type ApprovalMode = "ask" | "accept-edits" | "plan" | "auto" | "deny";

/** What decided; shown with a question or refusal and carried by the `approval_request` event. */
export type ApprovalGate =
  /** Inside the project, where reading and writing need no approval. */
  | "project"
  /** The session's own temporary files, which may be read. */
  | "session_files"
  /** A shell command that can be proved to only read. */
  | "read_only_command"
  /** A shell command that only edits files inside the project, in the mode `accept-edits`. */
  | "accept_edits"
  /** A shell command, or another tool, that may do more than read. */
  | "shell_command"
  /** A shell command of which more than plain words joined by `&&`, `||`, `;` or `|` would have to be understood. */
  | "command_syntax"
  /** A file that steers what other programs do is to be written. */
  | "control_file"
  /** A path that leads out of the project. */
  | "outside_project"
  /** A file that holds keys or passwords is to be read. */
  | "secret"
  /** It cannot be told what the request touches. */
  | "unknown_target"
  /** A shell command that runs in the sandbox, or that is to run outside it. */
  | "sandbox"
  /** A rule of the configuration. */
  | "rule"
  /** An earlier answer of a person, "always". */
  | "grant"
  /** The mode `plan`, in which nothing is written or run. */
  | "plan_mode"
  /** The mode `auto`, and no rule that denies. */
  | "auto_mode"
  /** An extension of the harness makes the verdict stricter. */
  | "extension";

/** Where requests come from and what was said about them; the same for all requests of a session. */
export interface ApprovalContext {
  /** The project root, absolute. */
  root: string;
  /** What relative paths in a request and commands start from, absolute. */
  cwd: string;
  /**
   * The session's private temporary directory, where whole outputs are kept; it may always be read. Looked at only
   * when something outside the project is to be read.
   */
  readonly temporaryDirectory?: string | undefined;
  /** `ask` when left out. */
  mode?: ApprovalMode | undefined;
  /** In the order of the configuration; none when left out. */
  rules?: readonly PermissionRule[] | undefined;
  /** Grants of the user; none when left out. Deny rules take precedence. */
  grants?: readonly Grant[] | undefined;
  /** What `~/` in a rule's pattern stands for. */
  home?: string | undefined;
  /** In whose PATH commands look for programs; that of this process when left out. */
  environment?: Environment | undefined;
  /** How shell commands run, asked for when one is judged; left out: as any program of the user's. */
  commandBox?: (() => Promise<SandboxState>) | undefined;
  /** False where what a boxed command changes could not be taken back: such commands ask then. True when left out. */
  readonly canUndo?: boolean | undefined;
}

/** The outcome for a request, by which gate, and why. */
export interface ApprovalVerdict {
  action: "allow" | "ask" | "deny";
  gate: ApprovalGate;
  /** Half a sentence for a person, such as `/etc/hosts is outside the project /home/me/app`. */
  reason: string;
  /** For `ask`: what "always" would allow from now on, to be shown with the question. */
  grants?: readonly Grant[] | undefined;
  /** For `deny`: only the mode refuses it; a person could have allowed it. */
  wouldAsk?: boolean | undefined;
  /** For reading a directory: true for a file (absolute, real) below it of which nothing may be shown. */
  withholds?: ((path: string) => boolean) | undefined;
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Needs no approval. In all three, `reason` is a clause for people, without capital and full stop. */
export function allow(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "allow", gate, reason };
}

/** Left to the mode: `ask` and `plan` put it to a person, `auto` lets it run, `deny` refuses it. */
export function ask(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "ask", gate, reason };
}

/** Refused without a question: neither a mode nor a grant can change that. */
export function deny(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "deny", gate, reason };
}

/** The verdict of a rule that matched. */
export function verdictOf({ permission, pattern, action }: PermissionRule): ApprovalVerdict {
  const rule = `the rule ${action} ${permission} ${JSON.stringify(pattern)}`;
  if (action === "allow") return allow("rule", `${rule} allows it`);
  return action === "deny" ? deny("rule", `${rule} forbids it`) : ask("rule", `${rule} requires approval`);
}

/** The first of the strictest; undefined for none. */
export function strictest(verdicts: readonly ApprovalVerdict[]): ApprovalVerdict | undefined {
  return verdicts.reduce<ApprovalVerdict | undefined>(
    (worst, verdict) => (worst && STRICTNESS[worst.action] >= STRICTNESS[verdict.action] ? worst : verdict),
    undefined,
  );
}

/** How many directory entries a decision may still look at, over all that it looks into; counted down. */
export interface EntryBudget {
  left: number;
}

// Some fifty milliseconds; a line that needs more needs approval.
const MAX_ENTRIES = 50_000;

/** The entry budget of one whole decision: created once and shared by all its checks. */
export function startLooking(): EntryBudget {
  return { left: MAX_ENTRIES };
}
