import { nearestName } from "@diligent/core/light";
import { AGENTS } from "./agent-commands.ts";
import { COMPACT, PIN } from "./compact-commands.ts";
import {
  CONFIG,
  CONTEXT,
  COST,
  EVIDENCE,
  HELP,
  KEYS,
  KNOWLEDGE,
  NETWORK,
  PERMISSIONS,
  RULES,
  STATUS,
  TRUST,
} from "./info-commands.ts";
import { JOBS, TRY } from "./job-commands.ts";
import { COPY, DIFF, EDITOR, EXPAND, EXPORT, RESULT } from "./output-commands.ts";
import { SECRETS } from "./secrets-command.ts";
import { FORK, HISTORY, INIT, NAME, NEW, QUIT, RELOAD, RESUME, TREE } from "./session-commands.ts";
import { LOGIN, LOGOUT, MODEL, SETTINGS, THINKING } from "./settings-commands.ts";
import type { SlashCommand } from "./types.ts";
import { REDO, UNDO } from "./undo-commands.ts";

/** All slash commands, in the order of the help: session, model, context, results, program. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  HELP,
  ...[NEW, RESUME, NAME, TREE, FORK, COMPACT, PIN],
  ...[MODEL, THINKING, CONTEXT, COST, NETWORK, SECRETS, EVIDENCE, STATUS],
  ...[INIT, KNOWLEDGE, RULES, AGENTS, JOBS],
  ...[TRY, DIFF, UNDO, REDO, RESULT, EXPAND, COPY, EXPORT],
  ...[SETTINGS, CONFIG, LOGIN, LOGOUT, PERMISSIONS, TRUST, RELOAD],
  ...[KEYS, HISTORY, EDITOR, QUIT],
];

/** The meaning of a line that begins with a slash. `//` sends a literal slash. */
type CommandLine =
  | { kind: "command"; command: SlashCommand; argument: string }
  | { kind: "unknown"; name: string; nearest: string | undefined }
  | { kind: "prompt"; text: string };

/** Distinguishes a command from a prompt; a second slash makes any line a prompt, without that slash. */
export function readCommandLine(text: string, commands: readonly SlashCommand[]): CommandLine {
  if (text.startsWith("//")) return { kind: "prompt", text: text.slice(1) };
  const [, name, argument = ""] = /^\/([\w-][\w:-]*|\?)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  // A path, a comment, a regular expression: nothing that looks like a command.
  if (name === undefined) return { kind: "prompt", text };
  const command = commands.find((each) => namesOf(each).includes(name));
  if (command) return { kind: "command", command, argument: argument.trim() };
  return { kind: "unknown", name, nearest: nearestName(name, commands.flatMap(namesOf)) };
}

/** The message for an unknown command. */
export function describeUnknown({ name, nearest }: { name: string; nearest: string | undefined }): string {
  const hint = nearest === undefined ? "/help lists them all" : `did you mean /${nearest}?`;
  return `Unknown command /${name} (${hint}). To send a prompt that starts with /, type //.`;
}

function namesOf({ name, aliases = [] }: SlashCommand): string[] {
  return [name, ...aliases];
}
