import { isInside } from "../infrastructure/fs/real-path.ts";
import {
  isBeyondAuto,
  isBeyondRules,
  isProtectedFromCommands,
} from "../infrastructure/paths/protected-files.ts";
import type { ProtectedAccess } from "../infrastructure/process/shell-wrapper.ts";
import { namesDanger, type Surroundings, toAbsolutePattern } from "./paths.ts";
import { findPathRule } from "./rules.ts";
import type { ApprovalContext, PermissionRule } from "./types.ts";

/**
 * What a sandboxed command may do with protected and secret files of the project, as the mode and the rules are now: in
 * `auto` all that no rule forbids, else what a rule allows by name. Undefined if that is nothing.
 */
export function createProtectedAccess(context: ApprovalContext): ProtectedAccess | undefined {
  const { root, home, mode, rules = [] } = context;
  const findRule = (path: string, permission: "read" | "write") =>
    findPathRule({ path, root, home }, permission, rules);
  if (mode === "auto") {
    const isAllowed = (path: string, permission: "read" | "write") =>
      findRule(path, permission)?.action !== "deny";
    const rootOf = (path: string) => (isInside(path, root) ? root : undefined);
    return {
      mayWrite: (path) => !isBeyondAuto(path, rootOf(path)) && isAllowed(path, "write"),
      mayRead: (path) => isAllowed(path, "read"),
      keepsNewFiles: true,
    };
  }
  if (!rules.some(({ permission, action }) => action === "allow" && permission !== "execute"))
    return undefined;
  const surroundings = { root, home, ownDirectories: [] };
  const findAllowing = (path: string, permission: "read" | "write") => {
    const rule = findRule(path, permission);
    const isAllowing = rule?.action === "allow" && isNamed(path, { rule, permission, surroundings });
    return isAllowing ? rule : undefined;
  };
  return {
    mayWrite: (path) => {
      if (isBeyondRules(path, root)) return false;
      if (findAllowing(path, "write")) return true;
      // A rule for everything in a directory opens it, unless a later one may refuse something in it.
      const rule = findAllowing(`${path}/_/_`, "write");
      return rule !== undefined && !hasLaterRefusal(rule, rules);
    },
    mayRead: (path) => findAllowing(path, "read") !== undefined,
    keepsNewFiles: false,
  };
}

function isNamed(
  path: string,
  {
    rule,
    permission,
    surroundings,
  }: { rule: PermissionRule; permission: "read" | "write"; surroundings: Surroundings },
): boolean {
  if (namesDanger(rule.pattern, { path, permission }, surroundings)) return true;
  // Files that only commands may not write.
  const { root } = surroundings;
  const named = toAbsolutePattern(rule.pattern, surroundings);
  return permission === "write" && isInside(named, root) && isProtectedFromCommands(named, root);
}

function hasLaterRefusal(rule: PermissionRule, rules: readonly PermissionRule[]): boolean {
  return rules
    .slice(rules.indexOf(rule))
    .some(({ permission, action }) => permission === "write" && action !== "allow");
}
