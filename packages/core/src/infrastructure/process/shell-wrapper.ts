import type { AskForHost, NetworkConnection } from "../network/connection.ts";

/** A command for a shell, as it would run unsandboxed. */
export interface ShellCommand {
  /** The shell as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  /** The complete environment of the command. */
  environment: Readonly<Record<string, string>>;
  /** Real paths of files that were written with the user's approval and have not changed since: they may exist. */
  writtenFiles?(): readonly string[];
  /** Left out, it may change no protected file and read no secret one. */
  access?: ProtectedAccess | undefined;
  /** Asks about a host that the command wants to reach in the sandbox; left out when nobody can be asked. */
  askForHost?: AskForHost | undefined;
}

/**
 * What a sandboxed command may do with files that it may otherwise not change or read. All paths are absolute and real.
 */
export interface ProtectedAccess {
  /** True for a protected file, or a directory with all its contents, that it may create, change and remove. */
  mayWrite(path: string): boolean;
  /** True for a secret file of the project that it may read. */
  mayRead(path: string): boolean;
  /** True if no protected file that it creates is moved away. */
  keepsNewFiles: boolean;
}

/** A command prepared to run in the sandbox. */
export interface WrappedCommand {
  argv: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** How the program reports the command's end, see `ReportFormat`; left out if it is the command itself. */
  report?: "staying_shell" | "bubblewrap" | undefined;
  /** The process table with the command's processes, if the session's commands share a process namespace. */
  processTable?: string | undefined;
  /** Absolute paths of files that are open for reading in the program, as its descriptors from 4 on. */
  inheritedFiles: readonly string[];
  /**
   * The reason why the sandbox could not be created, so that the command was not run; undefined otherwise. `mounts`: a
   * path has just been removed. `processes`: the session has reached its process limit.
   */
  findFailure(output: string): "mounts" | "processes" | undefined;
  /**
   * Ends all processes in the session's sandbox, and lets the next command report why: for a command that could not be
   * started because of the process limit, or could not be ended. Left out if commands share nothing.
   */
  endSession?: ((reason: string) => Promise<void>) | undefined;
  /**
   * A line for the model after a failure that the sandbox caused: the rule that was violated; undefined otherwise.
   * @param hasFailed false when the command reported success; by default it has failed.
   */
  explain(output: string, hasFailed?: boolean): string | undefined;
  /**
   * Call it once when the command has returned: removes protected files that were created without approval, and reports
   * them.
   */
  finish(end: CommandReturn): { notes: string[] };
  /** Call it instead of `finish` when the command could not be started. */
  abandon(): void;
}

/** The state of a command that has returned. */
export interface CommandReturn {
  /** True when some of its processes still run, as far as it reports. */
  survivors: boolean;
  /** Resolves when none of its processes runs any more, as far as that is visible. */
  gone: Promise<unknown>;
}

/** Runs shell commands with restricted access. */
export interface ShellWrapper {
  /** @throws Error when the command cannot be wrapped now: it is not run then. */
  wrapCommand(command: ShellCommand): Promise<WrappedCommand>;
  /**
   * Call it before a command runs unsandboxed, and the returned function afterwards: files that were created in between
   * may stay, unless a sandboxed process ran meanwhile. Then they are removed, and a line reports each.
   */
  leave(): () => readonly string[];
  /**
   * Creates namespaces in which other directories may be mounted for one command; left out where commands share none.
   * @param options.onConnection called for every connection that the command wants; none of them is made.
   * @throws Error with a clause why there are none.
   */
  openView?(options: { onConnection(connection: NetworkConnection): void }): Promise<ShellView>;
}

/**
 * Namespaces for one command: it sees no process and reaches no server outside of them, and its mounts are made in them
 * before it starts. All paths are absolute.
 */
export interface ShellView {
  /** Runs the command. No protected file is searched for when it returns: it writes to nothing but what was mounted. */
  wrapper: ShellWrapper;
  /** The directories to which the command may write, real paths, the project first. */
  writable: readonly string[];
  /** The directory of the commands' temporary files, which is among them; undefined if there is none. */
  temporary: string | undefined;
  /** The command line that runs another one as the administrator of the namespaces, before the command starts. */
  toAdministration(argv: readonly string[]): string[];
  /** The root directory as processes in the view see it. */
  root: string;
  /** Ends all processes in the namespaces; the mounts go with them. */
  end(): Promise<void>;
  /**
   * Makes changes as a command of the session: a protected file that they create is moved away and reported.
   * @returns one line for each.
   */
  guard(access: ProtectedAccess | undefined, change: () => Promise<void>): Promise<readonly string[]>;
}

/** The directory that replaces the system's temporary directories for sandboxed commands. All paths are absolute. */
export interface CommandTemporary {
  /** The replaced directories, such as `/tmp`. */
  shared: readonly string[];
  /** Paths inside these that commands see unchanged: the project, for instance. */
  kept: readonly string[];
  /** Its real path. */
  directory: string;
}

/** How the commands of a session run. */
export type SandboxState =
  /** In a sandbox; a command that requests it and has approval runs outside, if `mayLeave`. */
  | { kind: "boxed"; wrapper: ShellWrapper; mayLeave: boolean }
  /** Unsandboxed, as any program of the user; `problem` is the reason if a sandbox was expected. */
  | { kind: "open"; problem?: string | undefined }
  /** Not at all, because a sandbox is required and unavailable; `problem` is a clause. */
  | { kind: "refused"; problem: string };
