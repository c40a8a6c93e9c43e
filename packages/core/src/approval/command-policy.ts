import { isAbsolute, join } from "node:path";
import type { ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import { findRealPath } from "../infrastructure/reading/real-path.ts";
import { type CommandReading, type Pipeline, readCommand, type SimpleCommand } from "./command-syntax.ts";
import { type Grant, isGranted } from "./grants.ts";
import { judgeDirectoryChange, judgeReading } from "./read-only-policy.ts";
import { findCommandRule, toRuleCommand } from "./rules.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, strictest, verdictOf } from "./verdicts.ts";

/**
 * Decides about a command line. Every part of it has to be allowed by a rule, an earlier answer or as a program that
 * only reads; one part that a rule denies denies all of it. What is more than plain words can be allowed by nothing but
 * an answer to exactly this line.
 */
export function judgeCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  const reading = readCommand(line, readGrammar);
  const directory = findRealPath(context.cwd, context.cwd) ?? context.cwd;
  if (reading.kind === "opaque") return judgeOpaque(line, reading, { context, directory });
  const verdicts = judgePipelines(reading.pipelines, { context, directory });
  const verdict = strictest(verdicts) ?? ask("shell_command", "it holds no command");
  if (verdict.action !== "ask") return verdict;
  const grants = verdicts.flatMap((part) => (part.action === "ask" ? (part.grants ?? []) : []));
  const isComplete = verdicts.every(({ action, grants: own }) => action !== "ask" || own !== undefined);
  const lineGrant: Grant = { kind: "command_line", directory, text: line };
  if (isGranted(lineGrant, context.grants ?? [])) return GRANTED;
  return { ...verdict, grants: isComplete ? distinct(grants) : [lineGrant] };
}

const GRANTED = allow("grant", "you have allowed exactly this for good");

function distinct(grants: readonly Grant[]): Grant[] {
  return grants.filter((grant, index) => !isGranted(grant, grants.slice(0, index)));
}

interface Place {
  context: ApprovalContext;
  /** Where commands start, absolute and real. */
  directory: string;
}

function judgeOpaque(
  line: string,
  { obstacle, commands }: CommandReading & { kind: "opaque" },
  { context, directory }: Place,
): ApprovalVerdict {
  const denial = findDenial(commands, context);
  if (denial) return denial;
  const lineGrant: Grant = { kind: "command_line", directory, text: line };
  if (isGranted(lineGrant, context.grants ?? [])) return GRANTED;
  return { ...ask("command_syntax", obstacle), grants: [lineGrant] };
}

function findDenial(commands: readonly string[][], context: ApprovalContext): ApprovalVerdict | undefined {
  for (const words of commands) {
    const command = toRuleCommand(words.map((text) => ({ text, isGlob: false })));
    const rule = findCommandRule(command, context.rules ?? []);
    if (rule?.action === "deny") return verdictOf(rule);
  }
  return undefined;
}

/** Where a shell may be after what it has run so far, by how that ended. */
interface Whereabouts {
  success: readonly string[];
  failure: readonly string[];
}

function judgePipelines(pipelines: readonly Pipeline[], { context, directory }: Place): ApprovalVerdict[] {
  const verdicts: ApprovalVerdict[] = [];
  const isSteered = pipelines.some(({ commands }) => commands.some(changesShell));
  let after: Whereabouts = { success: [directory], failure: [] };
  for (const { runs, commands } of pipelines) {
    const before = startOf(runs, after);
    for (const [index, command] of commands.entries()) {
      const part = { command, directories: before, isPiped: index > 0, isSteered };
      verdicts.push(judgePart(part, context));
    }
    // What is piped runs in shells of its own, which take their directory with them.
    const [only, ...others] = commands;
    const moved = only && others.length === 0 ? directoriesAfter(only, before) : before;
    after = continueFrom(after, { runs, success: moved, failure: before });
  }
  return verdicts;
}

function startOf(runs: Pipeline["runs"], { success, failure }: Whereabouts): readonly string[] {
  if (runs === "after_success") return success;
  return runs === "after_failure" ? failure : unite(success, failure);
}

function continueFrom(
  before: Whereabouts,
  { runs, success, failure }: Whereabouts & { runs: Pipeline["runs"] },
): Whereabouts {
  if (runs === "after_success") return { success, failure: unite(before.failure, failure) };
  if (runs === "after_failure") return { success: unite(before.success, success), failure };
  return { success, failure };
}

function unite(left: readonly string[], right: readonly string[]): readonly string[] {
  return [...new Set([...left, ...right])];
}

function directoriesAfter([program, target]: SimpleCommand, before: readonly string[]): readonly string[] {
  if (program?.text !== "cd" || !target) return before;
  return before.map((directory) =>
    isAbsolute(target.text) ? join(target.text) : join(directory, target.text),
  );
}

/** Words of the shell that change what the words after them mean. */
const SHELL_CHANGES: ReadonlySet<string> = new Set([
  ...[
    "alias",
    "unalias",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "set",
    "shopt",
    "unset",
    "enable",
  ],
  ...[
    "hash",
    "source",
    ".",
    "eval",
    "exec",
    "trap",
    "builtin",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "let",
  ],
  ...["pushd", "popd", "bind", "complete", "compgen", "umask", "ulimit"],
]);

function changesShell([program]: SimpleCommand): boolean {
  return SHELL_CHANGES.has(program?.text ?? "");
}

interface Part {
  command: SimpleCommand;
  directories: readonly string[];
  isPiped: boolean;
  /** True when something on the same line may have changed what program names mean. */
  isSteered: boolean;
}

function judgePart(
  { command, directories, isPiped, isSteered }: Part,
  context: ApprovalContext,
): ApprovalVerdict {
  const rule = findCommandRule(toRuleCommand(command), context.rules ?? []);
  if (rule?.action === "deny" || rule?.action === "allow") return verdictOf(rule);
  const verdict = rule
    ? verdictOf(rule)
    : judgeUnruled({ command, directories, isPiped, isSteered }, context);
  const [only] = directories;
  // A pattern stands for other files tomorrow: such a part is only granted with its whole line.
  if (verdict.action !== "ask" || command.some(({ isGlob }) => isGlob)) return verdict;
  if (directories.length !== 1 || only === undefined) return verdict;
  const grant: Grant = { kind: "command", directory: only, words: command.map(({ text }) => text) };
  if (isGranted(grant, context.grants ?? [])) return GRANTED;
  return { ...verdict, grants: [grant] };
}

function judgeUnruled(part: Part, context: ApprovalContext): ApprovalVerdict {
  const { command, directories, isPiped, isSteered } = part;
  const name = command[0]?.text ?? "";
  if (isSteered && !changesShell(command)) {
    return ask("shell_command", `the same line changes what ${name} means`);
  }
  const verdicts = directories.map((directory) => {
    const inThere = { ...context, cwd: directory };
    return name === "cd"
      ? judgeDirectoryChange(command, inThere)
      : judgeReading({ command, isPiped, startsIn: context.cwd }, inThere);
  });
  return strictest(verdicts) ?? ask("shell_command", `${name} may run nowhere`);
}
