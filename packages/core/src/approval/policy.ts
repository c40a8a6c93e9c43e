import type { ApprovalRequest } from "../tool/types.ts";
import { assertNever } from "../types.ts";
import type { ApprovalContext, ApprovalMode, ApprovalVerdict, PermissionRule } from "./types.ts";
import { allow, deny } from "./verdicts.ts";

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
  // Loaded when something has to be judged: not before the first request of a model.
  const { judgeRequest } = await import("./judge-request.ts");
  return settle(await judgeRequest(request, context), mode);
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
