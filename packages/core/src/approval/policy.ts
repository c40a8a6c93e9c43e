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

/** True when the rules deny a permission completely: a tool that needs it is then not offered at all. */
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
 * Decides about a request: it is allowed, the user is asked, or it is denied. Deny rules take precedence over
 * everything, grants over other rules; the mode decides the rest. It reads the file system to follow links and changes
 * nothing; the first command loads the grammar.
 */
export async function decideApproval(
  request: ApprovalRequest,
  context: ApprovalContext,
): Promise<ApprovalVerdict> {
  const { permission } = request;
  const mode = isHostLimit(request) && context.mode === "auto" ? "ask" : (context.mode ?? "ask");
  if (mode === "plan" && permission !== "fetch" && !isReading(request)) {
    return deny("plan_mode", `${PLAN_REFUSALS[permission]} is not allowed in plan mode`);
  }
  const mayLoseHistory = permission === "execute" && context.canRestoreHistory === false;
  // Whether a host is in the internet is evaluated in every mode.
  const isTried = permission === "execute" && hasTryRule(context);
  const isAllowed = permission !== "fetch" && !mayLoseHistory && !isTried && !hasDenial(permission, context);
  if (mode === "auto" && isAllowed) return AUTO;
  // Loaded when a request has to be evaluated, not before the first model request.
  const { evaluateRequest, evaluateHistoryLoss } = await import("./evaluate-request.ts");
  const verdict = settle(await evaluateRequest(request, context), mode);
  if (mode !== "auto" || !mayLoseHistory || verdict.action === "deny" || verdict.tries) return verdict;
  return (await evaluateHistoryLoss(request, context)) ?? verdict;
}

/**
 * True for a connection of a sandboxed command: the list of hosts is a limit that the user has set, so it holds in the
 * mode `auto`, too. A page that a tool fetches is not subject to that list.
 */
export function isHostLimit({ permission, details }: ApprovalRequest): boolean {
  return permission === "fetch" && details?.url === undefined;
}

const PLAN_REFUSALS: Readonly<Record<ApprovalRequest["permission"], string>> = {
  read: "reading",
  write: "writing files",
  execute: "running commands",
  fetch: "connecting to other hosts",
  mcp: "calling a tool that may do more than read",
};

function isReading({ permission, details }: ApprovalRequest): boolean {
  return permission === "read" || (permission === "mcp" && details?.isReading === true);
}

const AUTO = allow("auto_mode", "the mode is auto");

/** True if a rule wants commands to be tried first, in every mode. */
export function hasTryRule({ rules = [] }: Pick<ApprovalContext, "rules">): boolean {
  return rules.some(({ action, permission }) => action === "try" && permission === "execute");
}

/** Files that a command reads fall under the rules for reading too. */
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
      return {
        ...AUTO,
        ...(verdict.withholds && { withholds: verdict.withholds }),
        ...(verdict.tries && { tries: verdict.tries }),
      };
    case "deny":
      return { ...verdict, ...deny(verdict.gate, verdict.reason), wouldAsk: true, grants: undefined };
    default:
      return assertNever(mode);
  }
}

/**
 * The tools to describe to the model: those whose every call a rule refuses are left out. The mode does not matter: it
 * may change, and the tools are the beginning of every request.
 */
export function selectOfferedTools(
  tools: readonly Tool[],
  { rules }: { rules: readonly PermissionRule[] },
): Tool[] {
  const isOffered = (tool: Tool) => !isDeniedOutright(permissionOf(tool), rules);
  const offered = tools.filter(isOffered);
  const names = new Set(offered.map(({ name }) => name));
  return offered.filter(({ goesWith }) => goesWith === undefined || names.has(goesWith));
}

/**
 * The same tool for a session whose mode may become `plan`: there, a call that would need no approval but may change
 * something is decided about like any other, and so refused.
 */
export function withPlanMode(tool: Tool, currentMode: () => ApprovalMode): Tool {
  const permission = permissionOf(tool);
  // Without this function every call needs approval; a server's tool asks once its server is known.
  if (["read", "fetch", "mcp"].includes(permission) || !tool.approval) return tool;
  const request = { permission, toolName: tool.name, description: tool.name, details: {} };
  const isRefused = () => currentMode() === "plan";
  const approval: Tool["approval"] = (args) => tool.approval?.(args) ?? (isRefused() ? request : undefined);
  // Other properties may be computed on first use.
  return Object.create(tool, { approval: { value: approval }, isRefused: { value: isRefused } });
}

function permissionOf({ permission, readOnly, changesFiles }: Tool): PermissionRule["permission"] {
  if (permission) return permission;
  if (readOnly) return "read";
  return changesFiles ? "write" : "execute";
}
