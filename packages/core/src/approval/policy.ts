import type { ApprovalRequest, Tool } from "../tool/types.ts";
import { assertNever } from "../types.ts";
import {
  type ApprovalContext,
  type ApprovalMode,
  type ApprovalVerdict,
  allow,
  deny,
  type PermissionRule,
} from "./types.ts";

/** True when the rules leave nothing of a permission: a tool that needs it is then not offered at all. */
export function isDeniedOutright(
  permission: PermissionRule["permission"],
  rules: readonly PermissionRule[],
): boolean {
  const own = rules.filter((rule) => rule.permission === permission);
  const last = own.findLastIndex(({ pattern }) => isEverything(pattern));
  return last >= 0 && own.slice(last).every(({ action }) => action === "deny");
}

/** `*` and `**` mean everything, for paths too. */
export function isEverything(pattern: string): boolean {
  return pattern === "*" || pattern === "**";
}

/**
 * Decides what becomes of a request: it is allowed, the user is asked, or it is denied. Deny rules take precedence
 * over everything, grants over other rules, and the mode decides what remains. It reads the file system to follow
 * links and changes nothing; the first command loads the grammar.
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
  // Loaded when something has to be judged: not before the first request of a model.
  const { evaluateRequest } = await import("./evaluate-request.ts");
  return settle(await evaluateRequest(request, context), mode);
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
    case "accept-edits":
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

/** The tools worth describing to the model: not those whose every call would be refused. */
export function selectOfferedTools(
  tools: readonly Tool[],
  { mode, rules }: { mode: ApprovalMode; rules: readonly PermissionRule[] },
): Tool[] {
  return tools.filter((tool) => {
    const permission = permissionOf(tool);
    if (mode === "plan" && permission !== "read") return false;
    return !isDeniedOutright(permission, rules);
  });
}

function permissionOf({ readOnly, changesFiles }: Tool): PermissionRule["permission"] {
  if (readOnly) return "read";
  return changesFiles ? "write" : "execute";
}
