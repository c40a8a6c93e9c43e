import type { ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import { findRealPath } from "../infrastructure/reading/real-path.ts";
import { judgeCommand } from "./command-policy.ts";
import { readCommand } from "./command-syntax.ts";
import { type Grant, isGranted } from "./grants.ts";
import { toRuleCommand } from "./rule-command.ts";
import { findCommandRule } from "./rules.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, verdictOf } from "./verdicts.ts";

/**
 * Decides about a command line that runs in the sandbox: it needs nobody, unless a rule forbids a part of it or wants it
 * asked. Where its effects could not be taken back, it is judged like any other.
 */
export function judgeBoxedCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  // What was allowed where there is no box counts in it too, beside what was allowed for it.
  const grants = context.grants?.map((grant) => markBoxed(grant, undefined));
  const judged = judgeCommand(line, { ...context, grants }, readGrammar);
  if (judged.action !== "ask") return judged;
  const verdict = { ...judged, grants: judged.grants?.map((grant) => markBoxed(grant, true)) };
  if (verdict.gate === "rule" || context.canUndo === false) return verdict;
  const rule = findAskingRule(line, context, readGrammar);
  return rule ? { ...verdict, ...verdictOf(rule) } : BOXED;
}

/** Whether a grant for a command is one for the sandbox only; one of another kind is as it was. */
function markBoxed(grant: Grant, boxed: true | undefined): Grant {
  return grant.kind === "command" || grant.kind === "command_line" ? { ...grant, boxed } : grant;
}

/** The verdict on a boxed command that no rule speaks of. */
export const BOXED = allow("sandbox", "it runs in the sandbox");

/** True where rules have to be looked at: they speak of commands, or forbid to read something. */
export function hasRulesForCommands({ rules = [] }: ApprovalContext): boolean {
  return rules.some(
    ({ permission, action }) => permission === "execute" || (permission === "read" && action === "deny"),
  );
}

/**
 * Decides about one that is to run outside the sandbox: only a rule that allows it, or an earlier answer to exactly this
 * line outside, keeps the person from being asked.
 */
export function judgeOutsideCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  const verdict = judgeCommand(line, { ...context, grants: [] }, readGrammar);
  const isRuled = verdict.action === "deny" || (verdict.action === "allow" && verdict.gate === "rule");
  if (isRuled) return verdict;
  const directory = findRealPath(context.cwd, context.cwd) ?? context.cwd;
  const grant: Grant = { kind: "command_line", directory, text: line, outside: true };
  if (isGranted(grant, context.grants ?? [])) {
    return allow("grant", "you have allowed exactly this outside the sandbox for good");
  }
  return { ...ask("sandbox", "it would run outside the sandbox, with all your rights"), grants: [grant] };
}

/** The rule that wants a part of a line asked, understood or not. */
function findAskingRule(line: string, { rules = [] }: ApprovalContext, readGrammar: ReadGrammar) {
  const reading = readCommand(line, readGrammar);
  const commands =
    reading.kind === "opaque"
      ? reading.commands.map((words) => words.map((text) => ({ text, isGlob: false })))
      : reading.pipelines.flatMap((pipeline) => pipeline.commands);
  return commands
    .map((command) => findCommandRule(toRuleCommand(command), rules))
    .find((rule) => rule?.action === "ask");
}
