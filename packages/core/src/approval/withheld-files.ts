import { findRealPath } from "../infrastructure/reading/real-path.ts";
import { findSurroundings, foldPath, isOwnPlace, type Surroundings } from "./path-dangers.ts";
import { findPathRule } from "./rules.ts";
import type { ApprovalContext } from "./types.ts";

/**
 * Tells of a file (absolute, real) below a directory whether it may not be read with that directory: a rule denies it or,
 * unless everything is allowed, wants to be asked about it, or it lies where this program keeps its own. Undefined where
 * there is neither. Secrets are not its business: a search leaves them out by itself.
 */
export function createWithholding(
  directory: string,
  context: ApprovalContext,
): ((path: string) => boolean) | undefined {
  const { mode, home, rules = [] } = context;
  const surroundings = findSurroundings(context);
  const withheld = mode === "auto" ? ["deny"] : ["deny", "ask"];
  const isWithheld = ({ action }: { action: string }) => withheld.includes(action);
  const isRuled = rules.some((rule) => rule.permission === "read" && isWithheld(rule));
  const holdsOwn = mode !== "auto" && holdsOwnPlace(directory, context, surroundings);
  if (!isRuled && !holdsOwn) return undefined;
  const { root } = surroundings;
  return (path) => {
    const rule = isRuled ? findPathRule({ path, root, home }, "read", rules) : undefined;
    return (rule !== undefined && isWithheld(rule)) || (holdsOwn && isOwnPlace(path, surroundings));
  };
}

function holdsOwnPlace(
  directory: string,
  { cwd }: ApprovalContext,
  { ownDirectories }: Surroundings,
): boolean {
  const folded = foldPath(findRealPath(directory, cwd) ?? directory);
  return ownDirectories.some((own) => own.startsWith(folded));
}
