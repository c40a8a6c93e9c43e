import type { ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import { isGranted, toCallGrant } from "./grants.ts";
import { isEverything } from "./outright-rules.ts";
import { showWord } from "./show-word.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, deny, verdictOf } from "./verdicts.ts";

/** The verdict on a request where no mode stands above it. What judges a path or a command is loaded with the first one. */
export async function judgeRequest(
  request: ApprovalRequest,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const { permission, toolName, details = {} } = request;
  if (permission === "execute") return judgeExecution(request, context);
  const { path, realPath } = details;
  if (typeof path !== "string" || path === "") {
    return judgeCall(request, ask("unknown_target", "it does not say which path it touches"), context);
  }
  const { decidePath } = await import("./path-policy.ts");
  const leadsTo = typeof realPath === "string" ? realPath : undefined;
  const verdict = decidePath({ path, leadsTo, permission, readsContent: true }, toolName, context);
  if (permission !== "read") return verdict;
  const { createWithholding } = await import("./withheld-files.ts");
  const withholds = createWithholding(leadsTo ?? path, context);
  return withholds ? { ...verdict, withholds } : verdict;
}

async function judgeExecution(request: ApprovalRequest, context: ApprovalContext): Promise<ApprovalVerdict> {
  const { command, outsideSandbox } = request.details ?? {};
  // Another tool may have an argument of that name and do anything with it.
  if (request.toolName === "bash" && typeof command === "string") {
    return judgeShellCommand(command, outsideSandbox === true, context);
  }
  return judgeCall(
    request,
    ask("shell_command", `${showWord(request.toolName)} may do more than read`),
    context,
  );
}

/** @param wantsOut to run outside the sandbox. */
async function judgeShellCommand(
  line: string,
  wantsOut: boolean,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const state = await context.commandBox?.();
  if (state?.kind === "refused") {
    return deny("sandbox", `commands are to run in a sandbox only, and ${state.problem}`);
  }
  if (state === undefined || state.kind === "open") {
    const [{ judgeCommand }, readGrammar] = await Promise.all([import("./command-policy.ts"), loadGrammar()]);
    return judgeCommand(line, context, readGrammar);
  }
  if (wantsOut && !state.mayLeave) return deny("sandbox", "no command is to run outside the sandbox");
  const { BOXED, hasRulesForCommands, judgeBoxedCommand, judgeOutsideCommand } = await import(
    "./box-policy.ts"
  );
  if (wantsOut) return judgeOutsideCommand(line, context, await loadGrammar());
  if (!hasRulesForCommands(context) && context.canUndo !== false) return BOXED;
  return judgeBoxedCommand(line, context, await loadGrammar());
}

/** A call of which nothing is known but its arguments: only rules about everything match it. */
function judgeCall(
  request: ApprovalRequest,
  verdict: ApprovalVerdict,
  { rules = [], grants = [] }: ApprovalContext,
): ApprovalVerdict {
  const rule = rules.findLast(
    ({ permission, pattern }) => permission === request.permission && isEverything(pattern),
  );
  if (rule?.action === "deny") return verdictOf(rule);
  const grant = toCallGrant(request);
  if (isGranted(grant, grants)) return allow("grant", "you have allowed exactly this for good");
  return rule ? { ...verdictOf(rule), grants: [grant] } : { ...verdict, grants: [grant] };
}

let grammar: Promise<ReadGrammar> | undefined;

/** Once for the process; tried again where it failed. */
function loadGrammar(): Promise<ReadGrammar> {
  grammar ??= import("../infrastructure/content/bash-grammar.ts").then(({ loadBashGrammar }) =>
    loadBashGrammar(),
  );
  grammar.catch(() => {
    grammar = undefined;
  });
  return grammar;
}
