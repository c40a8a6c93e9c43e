import { findRealPath } from "../../infrastructure/fs/real-path.ts";
import { type Grant, isGranted } from "../grants.ts";
import { findCommandRule, type RuleWords, toRuleCommand } from "../rules.ts";
import {
  type ApprovalContext,
  type ApprovalVerdict,
  allow,
  ask,
  type PermissionRule,
  verdictOf,
} from "../types.ts";
import { evaluateCommand } from "./command-policy.ts";
import type { ReadGrammar } from "./grammar.ts";
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
  const mark = (grant: Grant) => markSandboxed(grant, true);
  const verdict = {
    ...evaluated,
    grants: evaluated.grants?.map(mark),
    widenable: evaluated.widenable?.map((each) => ({ ...each, grant: mark(each.grant) })),
  };
  const ruled = readWords(line, readGrammar).map((command) => ({
    command,
    rule: findCommandRule(toRuleCommand(command), context.rules ?? []),
  }));
  const asking = ruled.flatMap(({ command, rule }) => (rule?.action === "ask" ? [{ command, rule }] : []));
  const [first] = asking;
  if (first) return { ...verdict, ...verdictOf(first.rule), commands: asking.map(({ command }) => command) };
  if (context.canUndo === false) return { ...verdict, reason: `${verdict.reason}, and ${NOT_RECORDED}` };
  const unruled = ruled.filter(({ rule }) => rule?.action !== "allow").map(({ command }) => command);
  const loss = findHistoryLoss(line, unruled);
  return loss === undefined
    ? RUNS_SANDBOXED
    : { ...verdict, ...ask("shell_command", loss.reason), commands: loss.commands };
}

/**
 * Decides about a command line in the mode `auto` when lost commits could not be restored: it needs approval if its words
 * show that it removes data that only git keeps, unless a rule or an earlier answer allows that. Undefined for others.
 */
export function evaluateLosingCommand(
  line: string,
  context: ApprovalContext,
  readGrammar: ReadGrammar,
): ApprovalVerdict | undefined {
  const isRuled = (command: RuleWords) =>
    findCommandRule(toRuleCommand(command), context.rules ?? [])?.action === "allow";
  const loss = findHistoryLoss(
    line,
    readWords(line, readGrammar).filter((command) => !isRuled(command)),
  );
  const directory = findRealPath(context.cwd, context.cwd) ?? context.cwd;
  const grant: Grant = { kind: "command_line", directory, text: line };
  if (loss === undefined || isGranted(grant, context.grants ?? [])) return undefined;
  const reason = `${loss.reason}, and undo could not restore it`;
  return { ...ask("shell_command", reason), grants: [grant], commands: loss.commands };
}

const NOT_RECORDED = "undo could not restore everything in the project: some files are not recorded";

/** Marks a grant for a command as valid only in the sandbox; other kinds of grants are returned unchanged. */
function markSandboxed(grant: Grant, boxed: true | undefined): Grant {
  const isCommand =
    grant.kind === "command" || grant.kind === "command_prefix" || grant.kind === "command_line";
  return isCommand ? { ...grant, boxed } : grant;
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
    commands: readWords(line, readGrammar),
  };
}

/** The rule by which a part of a line is tried first; undefined if there is none. */
export function findTryRule(
  line: string,
  { rules = [] }: ApprovalContext,
  readGrammar: ReadGrammar,
): PermissionRule | undefined {
  const matching = readWords(line, readGrammar).map((words) => findCommandRule(toRuleCommand(words), rules));
  return matching.find((rule) => rule?.action === "try");
}

/** The commands of a line, whether it is plain or not. */
function readWords(line: string, readGrammar: ReadGrammar): RuleWords[] {
  const reading = readCommand(line, readGrammar);
  return reading.kind === "opaque"
    ? reading.commands.map((words) => words.map((text) => ({ text, isGlob: false })))
    : reading.pipelines.flatMap((pipeline) => pipeline.commands);
}

/** A line without any of these needs no closer check. */
const SIGNS = /\.git(?![\w-])|\bgit\b.*\b(?:reflog|gc|prune|stash|branch|tag|update-ref|push|filter-)/s;

/** True if a line may remove data that only git keeps. Scripts are not analyzed: undo covers them. */
export function mayLoseHistory(line: string): boolean {
  return SIGNS.test(line);
}

/** Git commands that lose data when used with certain operands; `loss` is a clause. From git's manual pages. */
const GIT_LOSSES: readonly { command: string; operands: RegExp; loss: string }[] = [
  { command: "reflog", operands: /^(?:expire|delete|drop)\b/, loss: "removes entries of the reflog" },
  { command: "gc", operands: /(?:^| )--prune(?:=|$| )/, loss: "removes commits that no branch contains" },
  {
    command: "prune",
    operands: /^(?!.*(?:^| )(?:-n|--dry-run)\b)/,
    loss: "removes commits that no branch contains",
  },
  { command: "stash", operands: /^(?:drop|clear)\b/, loss: "removes stashes" },
  {
    command: "branch",
    operands: /(?:^| )-[a-zA-Z]*D|^(?=.*(?:^| )(?:-d|--delete)\b)(?=.*(?:^| )(?:-f|--force)\b)/,
    loss: "removes a branch that may not be merged",
  },
  { command: "tag", operands: /(?:^| )(?:-d|--delete)\b/, loss: "removes a tag" },
  { command: "update-ref", operands: /(?:^| )(?:-d|--delete|--stdin)\b/, loss: "removes a ref" },
  {
    command: "push",
    operands: /(?:^| )(?:[:+]\S|-[a-z]*[fd]|--(?:delete|force|mirror|prune)\b)/,
    loss: "removes or rewrites branches of another repository",
  },
  { command: "filter-branch", operands: /^/, loss: "rewrites the history" },
  { command: "filter-repo", operands: /^/, loss: "rewrites the history" },
];

/** Options of git itself that are followed by a value. */
const WITH_VALUE = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|exec-path|super-prefix|config-env))$/;

/** Programs that remove, move or overwrite their operands. */
const REMOVING = /^(?:rm|rmdir|unlink|mv|shred|truncate|dd|rsync|tee|install|cp|ln)$/;
const IN_REPOSITORY = /(?:^|[/=])\.git(?:\/|$)/;
// Lock files of a killed git have to be removed by hand.
const LOCK = /\.lock$/;

/** What commands of a line may lose. */
interface HistoryLoss {
  /** A clause. */
  reason: string;
  /** The commands that do; none where the line's redirection does. */
  commands: readonly RuleWords[];
}

/**
 * Says why commands remove or rewrite data that only git keeps (commits, refs, stashes, reflogs), as far as
 * their words show it; undefined otherwise.
 */
export function findHistoryLoss(line: string, commands: readonly RuleWords[]): HistoryLoss | undefined {
  if (/>\s*["']?(?:[^\s"';|&]*\/)?\.git\/(?!\S*\.lock)/.test(line))
    return { reason: "it writes into .git", commands: [] };
  const losing = commands.flatMap((command) => {
    const { text, otherTexts } = toRuleCommand(command);
    const reasons = [text, ...otherTexts].map((each) => findLoss(each.split(/\s+/)));
    const reason = reasons.find((each) => each !== undefined);
    return reason === undefined ? [] : [{ command, reason }];
  });
  const [first] = losing;
  return first && { reason: first.reason, commands: losing.map(({ command }) => command) };
}

function findLoss([program = "", ...words]: readonly string[]): string | undefined {
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "git") return findGitLoss(words);
  const paths = words
    .map((word) => word.replace(/["']/g, ""))
    .filter((word) => IN_REPOSITORY.test(word) && !LOCK.test(word));
  if (paths.length === 0) return undefined;
  if (name === "find") {
    const acts = words.some((word) => /^-(?:delete|exec|execdir|ok|okdir)$/.test(word));
    return acts ? "it changes the data in .git" : undefined;
  }
  if (!REMOVING.test(name)) return undefined;
  const isCopying = /^(?:cp|rsync|ln|install)$/.test(name);
  // Copying a repository changes nothing in it.
  const isTarget =
    IN_REPOSITORY.test(words.at(-1) ?? "") || words.some((word) => word.startsWith("--delete"));
  return isCopying && !isTarget ? undefined : "it changes or removes data in .git";
}

function findGitLoss(words: readonly string[]): string | undefined {
  let at = 0;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) at += WITH_VALUE.test(word) ? 2 : 1;
  const command = words[at];
  const operands = words.slice(at + 1).join(" ");
  const found = GIT_LOSSES.find((each) => each.command === command && each.operands.test(operands));
  return found && `git ${command} ${found.loss}`;
}
