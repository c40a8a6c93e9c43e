/** A command for a shell, as it would be started without a box. */
export interface ShellCommand {
  /** The shell as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment of the command. */
  environment: Readonly<Record<string, string>>;
  /** Files that were written with the user's consent and still are as they were written, by real path: they may be there. */
  writtenFiles?(): readonly string[];
}

/** A command as it is to be started for running in a box. */
export interface WrappedCommand {
  argv: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** How the program reports the command's end, see `ReportFormat`; left out where it is the command itself. */
  report?: "staying_shell" | "bubblewrap" | undefined;
  /** Where the command's processes are seen, if they share a process namespace with others of the session. */
  processTable?: string | undefined;
  /** Absolute paths of files that the program finds open for reading, as its descriptors from 4 on. */
  inheritedFiles: readonly string[];
  /**
   * What could not be made where this is all that came of it, so that nothing of the command was run. `mounts`: a path has
   * just gone away. `processes`: there is no room for another one in the session.
   */
  findFailure(output: string): "mounts" | "processes" | undefined;
  /**
   * Ends everything that runs in the session's sandbox, and lets the next command say why: for a command that could not
   * be started for want of processes, or not be ended. Left out where commands share nothing.
   */
  endSession?: ((reason: string) => Promise<void>) | undefined;
  /**
   * What the box is about, in a line for the model that follows a failure by which it was met; undefined otherwise.
   * @param hasFailed false where the command says that it went well: left out, it has not.
   */
  explain(output: string, hasFailed?: boolean): string | undefined;
  /** To be called once, when the command has returned: takes away what may not come about unasked, and says so. */
  finish(end: CommandReturn): { notes: string[] };
  /** To be called in place of `finish` where it could not be started. */
  abandon(): void;
}

/** How far a command is that has returned. */
export interface CommandReturn {
  /** True when something of it runs on, as far as it says so itself. */
  survivors: boolean;
  /** Resolves when nothing of it runs any more, as far as that can be seen. */
  gone: Promise<unknown>;
}

/** Where shell commands run that may touch little. */
export interface ShellWrapper {
  /** @throws Error when the command cannot be enclosed now: it is not run then. */
  wrapCommand(command: ShellCommand): Promise<WrappedCommand>;
  /**
   * To be called before a command runs outside; what it returns, after: what has come about between may stay, unless something of the box
   * ran meanwhile. Then it is taken away, and a line says so for each.
   */
  leave(): () => readonly string[];
}

/** The directory that sandboxed commands have in the place of the system's temporary ones. All paths are absolute. */
export interface CommandTemporary {
  /** The directories in whose place it is, such as `/tmp`. */
  shared: readonly string[];
  /** What lies in these and is itself to commands too: the project, for instance. */
  kept: readonly string[];
  /** Where it really is. */
  directory: string;
}

/** How the commands of a session run. */
export type SandboxState =
  /** In a box; one that asks for it and is allowed to runs outside, where `mayLeave`. */
  | { kind: "boxed"; wrapper: ShellWrapper; mayLeave: boolean }
  /** As any program of the user's; `problem` says why, where a box was wanted. */
  | { kind: "open"; problem?: string | undefined }
  /** Not at all, since there has to be a box and is none; `problem` says why, half a sentence. */
  | { kind: "refused"; problem: string };
