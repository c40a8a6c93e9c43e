import { findRealPath } from "../../infrastructure/fs/real-path.ts";
import type { ReadGrammar } from "../../infrastructure/text/bash-grammar.ts";
import { type Grant, isGranted } from "../grants.ts";
import { findCommandRule, type RuleWords, toRuleCommand } from "../rules.ts";
import { type ApprovalContext, type ApprovalVerdict, allow, ask, verdictOf } from "../types.ts";
import { evaluateCommand } from "./command-policy.ts";
import { findHistoryLoss, mayLoseHistory } from "./history-loss.ts";
import { readCommand } from "./parse.ts";

/**
 * Decides about a command line that runs in the sandbox. It needs no approval, unless a rule denies a part of it or
 * requires approval, or its words show that it removes data that only git keeps. If its effects could not be undone, it
 * is evaluated like any other.
 */
export function evaluateSandboxedCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  // Commands allowed unsandboxed are allowed in the sandbox too.
  const grants = context.grants?.map((grant) => markSandboxed(grant, undefined));
  const evaluated = evaluateCommand(line, { ...context, grants }, readGrammar);
  if (evaluated.action !== "ask") return evaluated;
  const verdict = { ...evaluated, grants: evaluated.grants?.map((grant) => markSandboxed(grant, true)) };
  if (verdict.gate === "rule") return verdict;
  if (context.canUndo === false) return { ...verdict, reason: `${verdict.reason}, and ${NOT_RECORDED}` };
  const commands = readWords(line, readGrammar);
  const rule = findAskingRule(commands, context);
  if (rule) return { ...verdict, ...verdictOf(rule) };
  const loss = findHistoryLoss(line, commands);
  return loss === undefined ? RUNS_SANDBOXED : { ...verdict, ...ask("shell_command", loss) };
}

const NOT_RECORDED = "undo could not restore everything in the project: some files are not recorded";

/** Marks a grant for a command as valid only in the sandbox; other kinds of grants are returned unchanged. */
function markSandboxed(grant: Grant, boxed: true | undefined): Grant {
  return grant.kind === "command" || grant.kind === "command_line" ? { ...grant, boxed } : grant;
}

/** The verdict on a sandboxed command to which no rule applies. */
export const RUNS_SANDBOXED = allow("sandbox", "it runs in the sandbox");

/** True when a line has to be parsed: rules apply to commands or deny reads, or the line may lose history. */
export function needsEvaluation(line: string, { rules = [], canUndo }: ApprovalContext): boolean {
  if (canUndo === false || mayLoseHistory(line)) return true;
  return rules.some(
    ({ permission, action }) => permission === "execute" || (permission === "read" && action === "deny"),
  );
}

/**
 * Decides about a command line that runs outside the sandbox: it needs approval unless a rule allows it or an earlier
 * answer allowed exactly this line outside the sandbox.
 */
export function evaluateOutsideCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict {
  const verdict = evaluateCommand(line, { ...context, grants: [] }, readGrammar);
  const isRuled = verdict.action === "deny" || (verdict.action === "allow" && verdict.gate === "rule");
  if (isRuled) return verdict;
  const directory = findRealPath(context.cwd, context.cwd) ?? context.cwd;
  const grant: Grant = { kind: "command_line", directory, text: line, outside: true };
  if (isGranted(grant, context.grants ?? [])) {
    return allow("grant", "you have always allowed exactly this outside the sandbox");
  }
  return {
    ...ask("sandbox", "it would run outside the sandbox, with all your permissions"),
    grants: [grant],
  };
}

/** The commands of a line, whether it is plain or not. */
function readWords(line: string, readGrammar: ReadGrammar): RuleWords[] {
  const reading = readCommand(line, readGrammar);
  return reading.kind === "opaque"
    ? reading.commands.map((words) => words.map((text) => ({ text, isGlob: false })))
    : reading.pipelines.flatMap((pipeline) => pipeline.commands);
}

/** Finds the rule that requires approval for one of the commands. */
function findAskingRule(commands: readonly RuleWords[], { rules = [] }: ApprovalContext) {
  return commands
    .map((command) => findCommandRule(toRuleCommand(command), rules))
    .find((rule) => rule?.action === "ask");
}
