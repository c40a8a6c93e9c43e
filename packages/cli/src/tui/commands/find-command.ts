import { nearestName } from "@diligent/core/light";
import type { SlashCommand } from "./types.ts";

/** What a line that begins with a slash means. `//` sends a literal slash. */
export type CommandLine =
  | { kind: "command"; command: SlashCommand; argument: string }
  | { kind: "unknown"; name: string; nearest: string | undefined }
  | { kind: "prompt"; text: string };

/** Tells a command from a prompt; a second slash in front makes any line a prompt, which loses the first. */
export function readCommandLine(text: string, commands: readonly SlashCommand[]): CommandLine {
  if (text.startsWith("//")) return { kind: "prompt", text: text.slice(1) };
  const [, name, argument = ""] = /^\/([\w-]+|\?)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  // A path, a comment, a regular expression: nothing that looks like a command.
  if (name === undefined) return { kind: "prompt", text };
  const command = commands.find((each) => namesOf(each).includes(name));
  if (command) return { kind: "command", command, argument: argument.trim() };
  return { kind: "unknown", name, nearest: nearestName(name, commands.flatMap(namesOf)) };
}

/** What is said about a command that there is not. */
export function describeUnknown({ name, nearest }: { name: string; nearest: string | undefined }): string {
  const hint = nearest === undefined ? "/help lists them all" : `did you mean /${nearest}?`;
  return `There is no command /${name} (${hint}). A prompt that begins with / is sent with //.`;
}

function namesOf({ name, aliases = [] }: SlashCommand): string[] {
  return [name, ...aliases];
}
