import { inheritEnvironment, resolveExecutable } from "@diligent/core/interactive";
import type { Environment } from "@diligent/core/run";
import { readCommandWords } from "../editor/completion.ts";

/** A program that the environment names, and how to start it. */
export interface UserProgram {
  /** The name that the user calls it by. */
  name: string;
  argv: string[];
  environment: Record<string, string>;
}

/** Which program to look for, and the message if there is none. */
interface UserProgramOptions {
  /** Its purpose, such as `editor`. */
  kind: string;
  /** What to do if it is not found, as a sentence for the user. */
  advice: string;
  environment: Environment;
  /** The project's real path: none of its programs is run. */
  root: string;
}

/**
 * In addition to every child's variables: those of the terminal and the desktop, and the settings of pagers
 * and editors.
 */
export const ATTENDED_VARIABLES: readonly string[] = [
  ...["PATH", "TERM", "TERMINFO", "TERMINFO_DIRS", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM"],
  ...["COLORFGBG", "NO_COLOR", "TMUX", "TMUX_PANE", "STY", "SSH_TTY", "SSH_CONNECTION"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP"],
  ...["XDG_SESSION_TYPE", "WSL_DISTRO_NAME", "WSL_INTEROP"],
  ...["LESS", "LESSOPEN", "LESSCLOSE", "LESSCHARSET", "LESSHISTFILE", "LESSKEY", "LESSKEYIN", "MORE"],
  ...["BAT_CONFIG_PATH", "BAT_OPTS", "BAT_PAGER", "BAT_STYLE", "BAT_THEME", "MOST_EDITOR", "MOST_SWITCHES"],
  ...["EDITOR", "VISUAL", "PAGER", "MANPAGER", "VIM", "VIMINIT", "VIMRUNTIME", "MYVIMRC", "NVIM"],
  ...["NVIM_APPNAME", "NVIM_LISTEN_ADDRESS", "ALTERNATE_EDITOR", "EMACSLOADPATH", "EMACS_SERVER_FILE"],
  ...["EMACS_SOCKET_NAME", "HELIX_RUNTIME", "KAKOUNE_CONFIG_DIR", "MICRO_CONFIG_HOME"],
  ...["VSCODE_IPC_HOOK", "VSCODE_IPC_HOOK_CLI"],
];

/**
 * Finds the program named by an environment variable such as `$EDITOR`. Like every child, it gets only listed
 * variables, so that it gets no key: editors start language servers and plugins from many sources.
 */
export function findUserProgram(line: string, options: UserProgramOptions): UserProgram | { error: string } {
  const { kind, advice, environment, root } = options;
  const [name, ...args] = readCommandWords(line) ?? [];
  if (name === undefined) return { error: `${line} is not a valid command: unclosed quotation mark` };
  const program = name.includes("/") ? name : resolveExecutable(name, { environment, outside: root });
  if (program === undefined) return { error: `The ${kind} ${name} was not found in PATH. ${advice}` };
  return { name, argv: [program, ...args], environment: inheritEnvironment(environment, ATTENDED_VARIABLES) };
}
