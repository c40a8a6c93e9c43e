import type { ReadGrammar } from "../infrastructure/content/bash-grammar.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import { assertNever } from "../types.ts";
import { isGranted, toCallGrant } from "./grants.ts";
import { isEverything } from "./rules.ts";
import type { ApprovalContext, ApprovalMode, ApprovalVerdict, PermissionRule } from "./types.ts";
import { allow, ask, deny, verdictOf } from "./verdicts.ts";

/**
 * Decides what becomes of a request: it needs nobody, a person is asked, or it is refused. Rules that deny stand above
 * everything, what a person has allowed for good above other rules, and the mode settles what is left to be asked. It
 * reads the file system to follow links and changes nothing; the first command loads the grammar.
 */
export async function decideApproval(
  request: ApprovalRequest,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const mode = context.mode ?? "ask";
  const { permission } = request;
  if (mode === "plan" && permission !== "read") {
    return deny("plan_mode", `in plan mode nothing is ${permission === "write" ? "written" : "run"}`);
  }
  if (mode === "auto" && !hasDenial(permission, context)) return AUTO;
  return settle(await judge(request, context), mode);
}

const AUTO = allow("auto_mode", "the mode is auto");

/** What is read by a command falls under the rules for reading too. */
function hasDenial(permission: PermissionRule["permission"], { rules = [] }: ApprovalContext): boolean {
  return rules.some(
    (rule) =>
      rule.action === "deny" &&
      (rule.permission === permission || (permission === "execute" && rule.permission === "read")),
  );
}

function settle(verdict: ApprovalVerdict, mode: ApprovalMode): ApprovalVerdict {
  if (verdict.action !== "ask") return verdict;
  switch (mode) {
    case "ask":
    case "plan":
      return verdict;
    case "auto":
      return { ...AUTO, ...(verdict.withholds && { withholds: verdict.withholds }) };
    case "deny":
      return { ...deny(verdict.gate, verdict.reason), wouldAsk: true };
    default:
      return assertNever(mode);
  }
}

// How paths and commands are judged is loaded when there is one to judge: not before the first request of a model.

async function judge(request: ApprovalRequest, context: ApprovalContext): Promise<ApprovalVerdict> {
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
  const command = request.details?.command;
  // Another tool may have an argument of that name and do anything with it.
  if (request.toolName === "bash" && typeof command === "string") {
    const { judgeCommand } = await import("./command-policy.ts");
    return judgeCommand(command, context, await loadGrammar());
  }
  return judgeCall(request, ask("shell_command", `${request.toolName} may do more than read`), context);
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
