import { isEverything } from "./outright-rules.ts";
import { matchesPath, type NamedPath } from "./path-pattern.ts";
import { type RuleCommand, spellLike } from "./rule-command.ts";
import { matchesText } from "./text-pattern.ts";
import type { PermissionRule } from "./types.ts";

/**
 * The last rule that matches. A rule that allows has to match the whole command, and its plain characters only what is
 * one plain word. One that denies or asks also matches when the command begins with it, so that `curl` is every call
 * of curl.
 */
export function findCommandRule(
  command: RuleCommand,
  rules: readonly PermissionRule[],
): PermissionRule | undefined {
  return rules.findLast(({ permission, pattern, action }) => {
    if (permission !== "execute") return false;
    if (action === "allow") return matchesText(pattern, command.exactText);
    const texts = [command.text, ...command.otherTexts, ...spellLike(pattern, command.text)];
    return texts.some((text) => matchesText(pattern, text) || matchesText(`${pattern} *`, text));
  });
}

/** The last rule that matches; see `matchesPath`. */
export function findPathRule(
  path: NamedPath,
  permission: "read" | "write",
  rules: readonly PermissionRule[],
): PermissionRule | undefined {
  return rules.findLast(
    (rule) =>
      rule.permission === permission &&
      (isEverything(rule.pattern) || matchesPath(rule.pattern, path, rule.action !== "allow")),
  );
}
