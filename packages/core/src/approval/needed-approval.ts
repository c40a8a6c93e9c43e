import { isAbsolute, relative, resolve } from "node:path";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { toHostPatternText } from "../infrastructure/network/host-pattern.ts";
import type { ApprovalRequest, NeededApproval, PermissionRule } from "../tool/types.ts";
import { decideApproval, isHostLimit } from "./policy.ts";
import { toRuleCommand } from "./rules.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";

/** Characters that mean something in a pattern, or that only a program's own reading of them would tell apart. */
const PATTERN_CHARACTERS = /[*?[\]{}\\!]/;

/**
 * What would let a refused request through: which commands of a line need the approval, and whether the mode `auto` or
 * which rules give it. Each answer was tried: with the rules added, the request is allowed.
 */
export async function findNeededApproval(
  request: ApprovalRequest,
  verdict: ApprovalVerdict,
  context: ApprovalContext,
): Promise<NeededApproval | undefined> {
  if (verdict.gate === "extension" || verdict.gate === "masked_secret") return undefined;
  // Where the mode is on already, it is not enough.
  const mode = context.mode === "auto" ? {} : { mode: "auto" as const };
  if (request.permission === "mcp") {
    const rules = toServerToolRules(request);
    return (await isAllowedWith(request, rules, context)) ? { ...mode, rules } : mode;
  }
  if (request.permission !== "execute") {
    if (request.permission === "fetch") {
      const rules = toHostRules(request);
      const ways = isHostLimit(request) ? {} : mode;
      return (await isAllowedWith(request, rules, context)) ? { ...ways, rules } : ways;
    }
    const rules = toPathRules(request, context);
    return (await isAllowedWith(request, rules, context)) ? { ...mode, rules } : mode;
  }
  const line = request.details?.command;
  const commands = (verdict.commands ?? []).map(toRuleCommand);
  if (typeof line !== "string" || commands.length === 0) return mode;
  const texts = [...new Set(commands.map(({ text }) => text))];
  const rules = [...new Set(commands.map(({ exactText }) => exactText))].map(toCommandRule);
  const part = texts.length === 1 && texts[0] === line.trim() ? {} : { parts: texts };
  return { ...mode, ...part, ...((await isAllowedWith(request, rules, context)) && { rules }) };
}

async function isAllowedWith(
  request: ApprovalRequest,
  added: readonly PermissionRule[],
  context: ApprovalContext,
): Promise<boolean> {
  if (added.length === 0) return false;
  const rules = [...(context.rules ?? []), ...added];
  const { action } = await decideApproval(request, {
    ...context,
    rules,
    mode: context.mode === "auto" ? "auto" : "ask",
  });
  return action === "allow";
}

/** A pattern that allows just that, but for characters which only `*` matches. */
function toCommandRule(exactText: string): PermissionRule {
  return { permission: "execute", pattern: exactText.replace(/\0+/g, "*"), action: "allow" };
}

function toHostRules({ permission, details = {} }: ApprovalRequest): PermissionRule[] {
  const { host, port } = details;
  if (typeof host !== "string" || typeof port !== "number") return [];
  return [{ permission, pattern: toHostPatternText({ host, port }), action: "allow" }];
}

function toServerToolRules({ permission, details = {} }: ApprovalRequest): PermissionRule[] {
  const { name } = details;
  if (typeof name !== "string" || PATTERN_CHARACTERS.test(name)) return [];
  return [{ permission, pattern: name, action: "allow" }];
}

function toPathRules({ permission, details = {} }: ApprovalRequest, context: ApprovalContext) {
  const files: unknown[] = Array.isArray(details.files) ? details.files : [details];
  return files.flatMap((file) =>
    toPathRule(permission, typeof file === "object" ? { ...file } : {}, context),
  );
}

function toPathRule(
  permission: ApprovalRequest["permission"],
  { realPath, path }: { realPath?: unknown; path?: unknown },
  { root, cwd }: ApprovalContext,
): PermissionRule[] {
  const named = typeof realPath === "string" ? realPath : path;
  if (typeof named !== "string" || named === "" || PATTERN_CHARACTERS.test(named)) return [];
  const absolute = isAbsolute(named) ? named : resolve(cwd, named);
  const pattern = isInside(absolute, root) && absolute !== root ? relative(root, absolute) : absolute;
  return [{ permission, pattern, action: "allow" }];
}
