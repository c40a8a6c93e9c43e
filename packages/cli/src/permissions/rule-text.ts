import type { PermissionRule } from "@diligent/core/run";
import { toSingleLine } from "../terminal-text.ts";

const ACTIONS = ["allow", "deny", "ask"] as const;
const PERMISSIONS = ["read", "write", "execute"] as const;
const MAX_PATTERN_COLUMNS = 200;

/** How a rule is written by hand. */
export const RULE_SYNTAX = "allow|deny|ask read|write|execute PATTERN";

/** Reads `deny execute curl`; the pattern is the rest of the line. `problem` is a sentence. */
export function readRule(text: string): { rule: PermissionRule } | { problem: string } {
  const [, first = "", second = "", pattern = ""] = /^\s*(\S*)\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  const action = ACTIONS.find((each) => each === first);
  const permission = PERMISSIONS.find((each) => each === second);
  if (action && permission && pattern !== "") return { rule: { permission, pattern, action } };
  return { problem: `A rule is written as ${RULE_SYNTAX}, such as: deny execute curl` };
}

/** On one line, safe for a terminal. */
export function describeRule({ action, permission, pattern }: PermissionRule): string {
  return `${action} ${permission} ${toSingleLine(pattern, MAX_PATTERN_COLUMNS)}`;
}
