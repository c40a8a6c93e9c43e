import type { Tool } from "../tool/types.ts";
import { isDeniedOutright } from "./outright-rules.ts";
import type { ApprovalMode, PermissionRule } from "./types.ts";

/** The tools worth telling the model about: not those of which every call would be refused. */
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
