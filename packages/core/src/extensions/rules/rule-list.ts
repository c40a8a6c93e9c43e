import { compileSentence } from "./compile-rule.ts";
import { matchesCall } from "./match-command.ts";
import { readSentences } from "./sentences.ts";
import type { Compiled, Guard, Rule, Sentence } from "./types.ts";

/** A text with rules, and whose it is. */
export interface RuleText {
  content: string;
  /** See `Rule`. */
  source: string;
}

const MAX_NAME_WORDS = 6;
const FILLER =
  /^(?:the|a|an|to|you|your|please|always|must|of|in|be|it|by|is|are|and|or|for|this|that|with|on|we|should|shall|all|as|important|note)$/;

/** The rules of a text, also those of which nothing is enforced, in its order. Names are unique in it. */
export function compileText({ content, source }: RuleText): Rule[] {
  const names = new Set<string>();
  return readSentences(content).flatMap((sentence) => {
    const compiled = compileSentence(sentence);
    if (compiled === undefined) return [];
    const text = showSentence(sentence);
    return [toRule(compiled, { text, source, line: sentence.line, name: uniqueName(toName(text), names) })];
  });
}

/** The rule of a sentence that the user has written by itself. */
export function compileOwn(name: string, text: string, source: string): Rule {
  const sentence: Sentence = { text, line: 0, isQuoted: false };
  const compiled = compileSentence(sentence) ?? { reason: "it does not tell what to do or not to do" };
  return toRule(compiled, { name, text, source, line: 0 });
}

function toRule(compiled: Compiled, about: Pick<Rule, "name" | "text" | "source" | "line">): Rule {
  return "guards" in compiled ? { ...about, ...compiled } : { ...about, guards: [], ...compiled };
}

function showSentence({ text, lead }: Sentence): string {
  return lead === undefined ? text : `${lead.replace(/\s*[:.]?\s*$/, "")}: ${text}`;
}

function toName(text: string): string {
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, " ")
    .split(/[\s_-]+/)
    .filter((word) => word !== "" && !FILLER.test(word));
  return words.slice(0, MAX_NAME_WORDS).join("-") || "rule";
}

/** @param taken is extended. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let count = 2; taken.has(unique); count++) unique = `${name}-${count}`;
  taken.add(unique);
  return unique;
}

/** Rules of the same authority, such as those of a project. */
export type RuleGroup = readonly Rule[];

/**
 * Rules that cannot be kept together bind nobody: both stay unenforced, with the reason. Between groups, the earlier one
 * counts, so that a project cannot switch off what the user wants.
 * @param groups by authority, the highest first.
 */
export function resolveContradictions(groups: readonly RuleGroup[]): Rule[][] {
  return groups.map((group, index) =>
    group.map((rule) => {
      const stronger = groups.slice(0, index).flat();
      const other = [...stronger, ...group].find((each) => each !== rule && contradict(rule, each));
      if (other === undefined || rule.guards.length === 0) return rule;
      const place = other.line === 0 ? other.source : `${other.source}:${other.line}`;
      return { ...rule, guards: [], reason: `it contradicts “${other.text}” (${place})` };
    }),
  );
}

function contradict(one: Rule, other: Rule): boolean {
  return (
    isRefused(demandsOf(one), other.guards) ||
    isRefused(demandsOf(other), one.guards) ||
    one.guards.some((guard) => other.guards.some((each) => contradictPaths(guard, each)))
  );
}

/** The commands that a rule tells to run. */
function demandsOf({ guards, demands }: Rule): (readonly string[])[] {
  return [
    ...(demands ? [demands] : []),
    ...guards.flatMap((guard) => {
      if (guard.kind === "command") return guard.instead ?? [];
      return guard.kind === "check" && typeof guard.run !== "string" ? [guard.run] : [];
    }),
  ];
}

function isRefused(commands: readonly (readonly string[])[], guards: readonly Guard[]): boolean {
  return commands.some((words) =>
    guards.some(
      (guard) =>
        guard.kind === "command" &&
        guard.refused.some((pattern) => pattern.branches === undefined && matchesCall({ words }, pattern)),
    ),
  );
}

function contradictPaths(one: Guard, other: Guard): boolean {
  if (one.kind !== "path" || other.kind !== "path" || one.isAllowed === other.isAllowed) return false;
  if (one.access === "read" || other.access === "read") return false;
  const [allowed, refused] = one.isAllowed ? [one, other] : [other, one];
  const clean = (path: string) => path.replace(/^\.\//, "").replace(/\/+(?:\*\*?\/?\*?)?$/, "");
  return allowed.patterns.every((path) =>
    refused.patterns.some((each) => `${clean(path)}/`.startsWith(`${clean(each)}/`)),
  );
}
