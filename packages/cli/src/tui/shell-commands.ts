import type { ProjectSession } from "@diligent/core/harness";
import { inheritEnvironment, resolveExecutable } from "@diligent/core/interactive";
import { type Environment, now, type ToolResult } from "@diligent/core/run";
import { runShellLine, type ShellLine, shareShellLine } from "../shell-line.ts";
import type { CommandContext } from "./commands/types.ts";
import { readCommandWords } from "./editor/completion.ts";
import { type Keymap, stopHint } from "./keys/keymap.ts";
import { ATTENDED_VARIABLES } from "./prompt/user-program.ts";
import { toContextStatus } from "./session-status.ts";
import { showShellCall, toShellCall } from "./shell-call.ts";
import type { ToolCallView, View } from "./view.ts";

interface ShellDeps {
  /** Lends the terminal to commands that need one; if omitted, they run without. */
  lendTerminal?: CommandContext["lendTerminal"];
  session(): Promise<ProjectSession>;
  change(change: (view: View) => View): void;
  /** True while files are being restored, during which no command may run. */
  isBlockedByMove(): boolean;
  /** Resolves when the model may be notified: at once, except while the context is being summarized. */
  untilNotifiable(): Promise<unknown> | undefined;
  /** Called when a command has ended or could not be started. */
  ended(): void;
  keymap(): Keymap;
}

/** Runs the user's shell commands alongside the conversation, one at a time. */
export class UserShell {
  private running: { abort: AbortController; ended: Promise<void> } | undefined;

  constructor(private readonly deps: ShellDeps) {}

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** No command can start any more. */
  get isBlocked(): boolean {
    return this.isRunning || this.deps.isBlockedByMove();
  }

  /**
   * Runs a command, alongside the model if necessary, and resolves when it has ended and the model was
   * notified.
   * @param typed the whole line, for the input history.
   * @throws Error if another command is running, files are being restored, or it cannot be started.
   */
  async run(line: ShellLine, typed: string): Promise<void> {
    if (this.deps.isBlockedByMove())
      throw new Error(`Cannot run a command while files are being restored${stopHint(this.deps.keymap())}.`);
    void this.deps.session().then(({ noteInput }) => noteInput(typed));
    try {
      await this.runAlone(line);
    } finally {
      this.deps.ended();
    }
  }

  private async runAlone(line: ShellLine): Promise<void> {
    if (this.running)
      throw new Error(`Your previous command is still running${stopHint(this.deps.keymap())}.`);
    const abort = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.running = { abort, ended: ended.promise };
    this.deps.change((view) => ({ ...view, shell: toShellCall(line, now()) }));
    try {
      await this.runToEnd(line, abort.signal);
    } finally {
      this.running = undefined;
      this.deps.change((view) => ({ ...view, shell: undefined }));
      ended.resolve();
    }
  }

  /** Stops the running command, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.running?.abort.abort();
    await this.running?.ended;
  }

  private async runToEnd(line: ShellLine, signal: AbortSignal): Promise<void> {
    const opened = await this.deps.session();
    const { output, isError = false, metadata = {}, ...rest } = await this.runLine(line, opened, signal);
    this.changeCall((call) => ({ ...call, result: { output, isError, metadata, endedAt: now() } }));
    this.deps.change(showShellCall);
    await this.deps.untilNotifiable();
    await shareShellLine(line, { output, isError, metadata, ...rest }, opened);
    this.deps.change((view) => ({ ...view, status: { ...view.status, ...toContextStatus(opened) } }));
  }

  private runLine(line: ShellLine, opened: ProjectSession, signal: AbortSignal): Promise<ToolResult> {
    const { lendTerminal } = this.deps;
    if (lendTerminal && !line.isTried && needsTerminal(line.command, opened.workspace.environment))
      return runInTerminal(line.command, opened, lendTerminal);
    return runShellLine(line, opened, {
      signal,
      onUpdate: (partial) => this.changeCall((call) => ({ ...call, partial })),
    });
  }

  private changeCall(change: (call: ToolCallView) => ToolCallView): void {
    this.deps.change((view) =>
      view.shell ? { ...view, shell: { ...view.shell, call: change(view.shell.call) } } : view,
    );
  }
}

/** `!tty command` lends the terminal to a command that is not known to need it. */
const EXPLICIT = /^tty\s+(?=[^\s-])/;

const FULL_SCREEN: ReadonlySet<string> = new Set([
  ...[
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "nano",
    "pico",
    "emacs",
    "micro",
    "hx",
    "helix",
    "kak",
    "joe",
    "mcedit",
  ],
  ...[
    "less",
    "more",
    "most",
    "man",
    "info",
    "top",
    "htop",
    "btop",
    "atop",
    "glances",
    "iotop",
    "nvtop",
    "watch",
  ],
  ...["tig", "lazygit", "gitui", "lazydocker", "k9s", "mc", "ranger", "nnn", "lf", "yazi", "vifm", "ncdu"],
  ...["tmux", "screen", "zellij", "ssh", "mosh", "telnet", "fzf", "dialog", "whiptail"],
  // They read a password or an answer directly from the terminal.
  ...["sudo", "su", "passwd", "visudo", "doas"],
]);

/** Programs that are interactive when called without arguments. */
const INTERACTIVE_ALONE: ReadonlySet<string> = new Set([
  ...[
    "bash",
    "zsh",
    "fish",
    "sh",
    "python",
    "python3",
    "ipython",
    "node",
    "irb",
    "ghci",
    "psql",
    "mysql",
    "sqlite3",
  ],
]);

const GIT_WITH_EDITOR =
  /^git\s+(?:-\S+\s+)*(?:rebase\s+(?:\S+\s+)*(?:-i|--interactive)\b|(?:add|checkout|restore|reset|stash)\s+(?:\S+\s+)*(?:-p|-i|--patch|--interactive)\b|(?:mergetool|difftool)\b|commit(?!.*\s(?:-\w*[mFCc]|--message|--file|--no-edit|--reuse-message|--fixup|--dry-run|--help)))/;

const WRAPPERS = /^(?:\w+=\S*|command|exec|env|time|nice|nohup)$/;

/**
 * True for a command line with a part that takes over the screen or prompts at the terminal: it cannot run
 * without one.
 */
export function needsTerminal(
  command: string,
  { EDITOR = "", VISUAL = "", PAGER = "" }: Environment,
): boolean {
  if (EXPLICIT.test(command)) return true;
  const own = [EDITOR, VISUAL, PAGER].map((line) => baseName(readCommandWords(line)?.[0] ?? ""));
  return command.split(/&&|\|\|?|;|\n/).some((part) => {
    const words = part.trim().split(/\s+/);
    const start = words.findIndex((word) => !WRAPPERS.test(word));
    const name = baseName(words[start] ?? "");
    if (name === "" || /(?<![<>&\d])>/.test(part)) return false;
    const isAlone = start === words.length - 1;
    if (FULL_SCREEN.has(name) || own.includes(name)) return true;
    return (isAlone && INTERACTIVE_ALONE.has(name)) || GIT_WITH_EDITOR.test(words.slice(start).join(" "));
  });
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * Runs a command of the user with the terminal, which it has until it ends. Its output is not captured.
 * @throws Error if it cannot be started.
 */
async function runInTerminal(
  command: string,
  { workspace }: Pick<ProjectSession, "workspace">,
  lendTerminal: CommandContext["lendTerminal"],
): Promise<ToolResult> {
  const { cwd, root, environment, inheritEnvironment: more = [] } = workspace;
  const shell = resolveExecutable("bash", { environment, outside: root }) ?? "/bin/sh";
  const exitCode = await lendTerminal(async (ended) => {
    const child = Bun.spawn([shell, "-c", command.replace(EXPLICIT, "")], {
      cwd,
      env: inheritEnvironment(environment, [...ATTENDED_VARIABLES, ...more]),
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
      signal: ended,
    });
    return child.exited;
  });
  const end = exitCode === 0 ? "" : ` with exit code ${exitCode}`;
  const output = `(ran in the terminal and ended${end}; its output was not captured)`;
  return { output, isError: exitCode !== 0, metadata: { exitCode } };
}
