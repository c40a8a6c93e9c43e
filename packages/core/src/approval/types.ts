import type { Environment } from "../infrastructure/environment.ts";
import type { CommandBox } from "../infrastructure/processes/shell-box.ts";
import type { PermissionRule } from "../tool/types.ts";
import type { Grant } from "./grants.ts";

export type { PermissionRule };

/**
 * What becomes of what needs asking: a person is asked, it is done, it is refused. `plan` is `ask` for reading and
 * refuses whatever writes or runs.
 */
export type ApprovalMode = "ask" | "auto" | "deny" | "plan";

/** What decided; shown with a question or refusal and carried by the `approval_request` event. */
export type ApprovalGate =
  /** Inside the project, where reading and writing need nobody. */
  | "project"
  /** The session's own temporary files, which may be read. */
  | "session_files"
  /** A shell command that can be proved to only read. */
  | "read_only_command"
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
  | "auto_mode";

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
  /** What a person has allowed for good; none when left out. Deny rules stand above them. */
  grants?: readonly Grant[] | undefined;
  /** What `~/` in a rule's pattern stands for. */
  home?: string | undefined;
  /** In whose PATH commands look for programs; that of this process when left out. */
  environment?: Environment | undefined;
  /** How shell commands run, asked for when one is judged; left out: as any program of the user's. */
  commandBox?: (() => Promise<CommandBox>) | undefined;
  /** False where what a boxed command changes could not be taken back: such commands ask then. True when left out. */
  readonly canUndo?: boolean | undefined;
}

/** What is to become of a request, by which gate, and why. */
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
