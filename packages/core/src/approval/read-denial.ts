import { resolve } from "node:path";
import { isExistingPath } from "../infrastructure/reading/directory-names.ts";
import { findRealPath } from "../infrastructure/reading/real-path.ts";
import { expandGlob } from "./expand-glob.ts";
import type { Looks } from "./looks.ts";
import { isEverything } from "./outright-rules.ts";
import { findPathRule } from "./rules.ts";
import type { LookingJudge } from "./search-policy.ts";
import type { ApprovalContext, ApprovalVerdict, PermissionRule } from "./types.ts";
import { verdictOf } from "./verdicts.ts";

/** True when something is denied to be read: only then are the words of a command looked at for it. */
export function hasReadDenial({ rules = [] }: ApprovalContext): boolean {
  return rules.some(({ permission, action }) => permission === "read" && action === "deny");
}

/**
 * The denial of what a text would read if a piece of it were a path: for commands of which it is not known what they do
 * with their words. A rule that denies everything needs a piece that names something.
 */
export function findReadDenial(
  texts: readonly string[],
  places: readonly string[],
  { context, looks }: Pick<LookingJudge, "context" | "looks">,
): ApprovalVerdict | undefined {
  if (!hasReadDenial(context)) return undefined;
  const pieces = new Set(texts.flatMap(toPieces));
  for (const place of places) {
    const root = findRealPath(context.root, place) ?? context.root;
    for (const piece of pieces) {
      const rule = findDenial(piece, { place, root, context, looks });
      if (rule) return verdictOf(rule);
    }
  }
  return undefined;
}

/** Whole, and cut at everything that may surround a path: quotes, `=`, `:`, `@`, brackets, operators. */
function toPieces(text: string): string[] {
  const bare = text.replace(/["'\\]/g, "");
  return [
    text,
    bare,
    ...text.split(/[\s"'\\`=:@,;&|<>(){}$]+/),
    ...bare.split(/[\s`=:@,;&|<>(){}$]+/),
  ].filter((piece) => piece !== "");
}

function findDenial(
  piece: string,
  { place, root, context, looks }: { place: string; root: string; context: ApprovalContext; looks: Looks },
): PermissionRule | undefined {
  const { rules = [], home } = context;
  const isHome = home !== undefined && (piece === "~" || piece.startsWith("~/"));
  const path = isHome ? home + piece.slice(1) : piece;
  // Regular expressions have brackets too: one stands for one character here, not for anything.
  const pattern = path.replace(/\[[^\]/]+\]/g, "?").replaceAll("[", "?");
  const expansion = /[*?]/.test(pattern) ? expandGlob(pattern, place, looks) : { names: [] };
  // Who piles up patterns until nobody can look at all of them hides something.
  if ("obstacle" in expansion && expansion.isTooLarge) {
    return rules.findLast(({ permission, action }) => permission === "read" && action === "deny");
  }
  const names = "names" in expansion ? [path, ...expansion.names] : [path];
  const paths = names.flatMap((name) => {
    const named = resolve(place, name);
    return [...new Set([named, findRealPath(name, place) ?? named])];
  });
  for (const candidate of paths) {
    const rule = findPathRule({ path: candidate, root, home }, "read", rules);
    if (rule?.action === "deny" && (!isEverything(rule.pattern) || isExistingPath(candidate))) return rule;
  }
  return undefined;
}
