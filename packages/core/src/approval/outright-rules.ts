import type { PermissionRule } from "./types.ts";

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
