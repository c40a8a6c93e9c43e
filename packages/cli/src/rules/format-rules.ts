import { describeGuards, type PlacedRule, type Rule } from "@diligent/core/definitions";
import { toSingleLine } from "../text/terminal-text.ts";

type ListedRule = Rule & Partial<Pick<PlacedRule, "state">>;

const MAX_COLUMNS = 160;

/** Each rule with its line and its guards, then what is not enforced, with the reason. Safe for a terminal; never empty. */
export function formatRules(rules: readonly ListedRule[]): string[] {
  if (rules.length === 0) return ["No rules were found."];
  const bound = rules.filter(({ guards }) => guards.length > 0);
  const others = rules.filter(({ guards }) => guards.length === 0);
  return [
    ...bound.flatMap((rule) => [
      showLine(`${rule.name} (${placeOf(rule)})${markOf(rule)}`),
      showLine(`    ${rule.text}`),
      showLine(`    ${describeGuards(rule.guards)}`),
    ]),
    ...(others.length === 0 ? [] : [...(bound.length === 0 ? [] : [""]), "Not enforced:"]),
    ...others.flatMap((rule) => [
      showLine(`  ${placeOf(rule)}: ${rule.text}`),
      showLine(`      ${rule.reason ?? ""}`),
    ]),
  ];
}

/** The rules as JSON has them; `guard` is null where nothing is enforced, and `reason` says why. */
export function toListedRules(rules: readonly ListedRule[]): object[] {
  return rules.map(({ name, text, source, line, guards, reason, state }) => ({
    ...{ rule: text, source, line, guard: guards.length === 0 ? null : describeGuards(guards), name },
    ...(reason !== undefined && { reason }),
    ...(state !== undefined && guards.length > 0 && { state }),
  }));
}

function placeOf({ source, line }: Rule): string {
  return line === 0 ? source : `${source}:${line}`;
}

function markOf({ state }: ListedRule): string {
  if (state === "untrusted") return " (not trusted, see diligent trust)";
  return state === "off" ? " (switched off)" : "";
}

function showLine(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? "";
  return indent + toSingleLine(line.slice(indent.length), MAX_COLUMNS);
}
