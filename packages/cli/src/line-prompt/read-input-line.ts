/** What a line of the person means. */
export type InputLine =
  | { kind: "empty" }
  | { kind: "prompt"; text: string }
  | { kind: "compact"; focus: string }
  | { kind: "quit" }
  /** Looks like a command, but there is none of that name; or it was given what it does not take. */
  | { kind: "unknown"; command: string };

// A path goes on with a slash or a dot: it is no command.
const COMMAND = /^\/([\w-]+|\?)(?:\s+([\s\S]*))?$/;

/** Reads a line; one that begins with `//` is a prompt that begins with one slash. */
export function readInputLine(line: string): InputLine {
  const trimmed = line.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith("//")) return { kind: "prompt", text: trimmed.slice(1) };
  const [, name, argument = ""] = COMMAND.exec(trimmed) ?? [];
  if (name === undefined) return { kind: "prompt", text: line };
  if (name === "compact") return { kind: "compact", focus: argument.trim() };
  if ((name === "quit" || name === "exit") && argument === "") return { kind: "quit" };
  return { kind: "unknown", command: `/${name}` };
}

/** What to type instead of a command that there is not. */
export function describeCommands(command: string): string {
  return `There is no command ${command} here. There are /compact [focus] and /quit; // begins a prompt with a slash.`;
}
