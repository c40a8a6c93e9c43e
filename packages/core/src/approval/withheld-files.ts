import { findRealPath } from "../infrastructure/reading/real-path.ts";
import { findPathRule } from "./rules.ts";
import type { ApprovalContext } from "./types.ts";

/**
 * Tells of a file (absolute, real) whether a rule for reading keeps it out of a search over a directory that it lies in:
 * one that denies it or, unless everything is allowed, one that wants to be asked about it. Undefined where no rule does
 * either. Secrets are not its business: a search leaves them out by itself.
 */
export function createWithholding(context: ApprovalContext): ((path: string) => boolean) | undefined {
  const { rules = [], mode, home, cwd } = context;
  const withheld = mode === "auto" ? ["deny"] : ["deny", "ask"];
  const isWithheld = ({ action }: { action: string }) => withheld.includes(action);
  if (!rules.some((rule) => rule.permission === "read" && isWithheld(rule))) return undefined;
  const root = findRealPath(context.root, cwd) ?? context.root;
  return (path) => {
    const rule = findPathRule({ path, root, home }, "read", rules);
    return rule !== undefined && isWithheld(rule);
  };
}
