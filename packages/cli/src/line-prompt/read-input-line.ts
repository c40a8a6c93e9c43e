import { readShellLine, type ShellLine } from "../shell-line/read-shell-line.ts";

/** What a line of the person means. */
export type InputLine =
  | { kind: "empty" }
  | { kind: "prompt"; text: string }
  /** Looks like a slash command; whether there is one of that name is not looked at yet. */
  | { kind: "command"; line: string }
  | { kind: "quit" }
  /** A command of their own; without one where only the marks were typed. */
  | { kind: "shell"; line: ShellLine };

// A path goes on with a slash or a dot: it is no command.
const COMMAND = /^\/([\w-]+|\?)(?:\s+([\s\S]*))?$/;
const QUIT = new Set(["quit", "exit", "q"]);

/** Reads a line; one that begins with `//` is a prompt that begins with one slash. */
export function readInputLine(line: string): InputLine {
  const trimmed = line.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith("//")) return { kind: "prompt", text: trimmed.slice(1) };
  const shell = readShellLine(trimmed);
  if (shell) return { kind: "shell", line: shell };
  const [, name, argument = ""] = COMMAND.exec(trimmed) ?? [];
  if (name === undefined) return { kind: "prompt", text: line };
  return QUIT.has(name) && argument === "" ? { kind: "quit" } : { kind: "command", line: trimmed };
}
