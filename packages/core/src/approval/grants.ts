import type { ApprovalRequest } from "../tool/types.ts";
import { showWord } from "./show-word.ts";

/** What "always" allows: exactly what was asked about, wherever it is asked again; nothing longer, nothing else. */
export type Grant =
  /**
   * One simple command, word for word, run in this directory (absolute, real), alone or as a part of a line that changes
   * nothing of what its words mean. Never one that another command is piped into.
   */
  | {
      kind: "command";
      directory: string;
      words: readonly string[];
      /** Given for the sandbox: counts only where the command runs in it. Without it, there and where there is none. */
      boxed?: true | undefined;
    }
  /** A whole command line, character for character: one that is more than plain words. */
  | {
      kind: "command_line";
      directory: string;
      text: string;
      /** Run outside the sandbox; without it, never. */
      outside?: true | undefined;
      /** As for a command. Never together with `outside`. */
      boxed?: true | undefined;
    }
  /**
   * One file or directory (absolute, real), touched by this tool in any call for it. `reach` is there for a directory:
   * what lies below it is touched with it, but a call for a directory or file below it is another one.
   */
  | {
      kind: "path";
      permission: "read" | "write";
      tool: string;
      path: string;
      reach?: "below" | undefined;
    }
  /** One call of another tool with exactly these arguments, as JSON. */
  | { kind: "call"; tool: string; details: string };

/** True when the very same is among `grants`: a grant covers nothing but itself. */
export function isGranted(wanted: Grant, grants: readonly Grant[]): boolean {
  const key = toKey(wanted);
  return grants.some((grant) => grant.kind === wanted.kind && toKey(grant) === key);
}

/** What would be allowed, in words for a person. Command words that hold more than plain characters stand in quotes. */
export function describeGrant(grant: Grant): string {
  switch (grant.kind) {
    case "command":
      return `${describeRuns(grant)}exactly \`${grant.words.map(quoteWord).join(" ")}\` in ${showWord(grant.directory)}`;
    case "command_line":
      return `${describeRuns(grant)}exactly this command line in ${showWord(grant.directory)}`;
    case "path":
      return grant.reach === undefined
        ? `${grant.tool}: ${grant.permission} exactly ${showWord(grant.path)}`
        : `${grant.tool}: ${grant.permission} ${showWord(grant.path)} and everything below it, in any call for exactly that directory`;
    case "call":
      return `${grant.tool} with exactly these arguments`;
  }
}

/** The grant for a call of a tool that names neither a path nor a command. */
export function toCallGrant({ toolName, details }: ApprovalRequest): Grant {
  return { kind: "call", tool: toolName, details: JSON.stringify(sortKeys(details ?? {})) };
}

/** In front, where no long command pushes it out of sight. */
function describeRuns({ boxed, outside }: { boxed?: true | undefined; outside?: true | undefined }): string {
  if (outside) return "outside the sandbox: ";
  return boxed ? "in the sandbox only: " : "";
}

function toKey(grant: Grant): string {
  switch (grant.kind) {
    case "command":
      return JSON.stringify([grant.boxed, grant.directory, ...grant.words]);
    case "command_line":
      return JSON.stringify([grant.boxed, grant.directory, grant.text, grant.outside]);
    case "path":
      return JSON.stringify([grant.permission, grant.tool, grant.path, grant.reach]);
    case "call":
      return JSON.stringify([grant.tool, grant.details]);
  }
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, sortKeys(inner)]);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}
