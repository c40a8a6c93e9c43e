import { matchesPath, type NamedPath } from "./path-pattern.ts";
import { matchesText, UNKNOWN_TEXT } from "./text-pattern.ts";
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

/** A simple command as rules see it. */
export interface RuleCommand {
  /** Words joined by one space, as a person would write a rule about them. */
  text: string;
  /** The same with a mark in the place of everything that is no plain part of one word. */
  exactText: string;
  /** Other texts under which a rule that denies or asks finds it: without a directory or what runs it. */
  otherTexts: readonly string[];
}

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
    const texts = [command.text, ...command.otherTexts];
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

/** How rules see a command's words. */
export function toRuleCommand(words: readonly { text: string; isGlob: boolean }[]): RuleCommand {
  const texts = words.map(({ text }) => text);
  return {
    text: texts.join(" "),
    exactText: words.map(toExactText).join(" "),
    otherTexts: otherTextsOf(texts),
  };
}

function toExactText({ text, isGlob }: { text: string; isGlob: boolean }): string {
  const unknown = isGlob ? /[\s*?[\]]/g : /\s/g;
  return text === "" ? UNKNOWN_TEXT : text.replace(unknown, UNKNOWN_TEXT);
}

// Programs that run the command in their operands.
const RUNNERS: ReadonlySet<string> = new Set([
  ...["env", "command", "builtin", "exec", "nohup", "timeout", "nice", "ionice", "time", "stdbuf", "setsid"],
  ...[
    "sudo",
    "doas",
    "xargs",
    "busybox",
    "toybox",
    "chroot",
    "unshare",
    "strace",
    "watch",
    "parallel",
    "flock",
  ],
]);

/** What a rule that denies may have meant: the program without its directory, and what is run by way of another. */
function otherTextsOf(words: readonly string[]): string[] {
  const [program = ""] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  const bare = [name, ...words.slice(1)];
  const texts = name === program ? [] : [bare.join(" ")];
  if (!RUNNERS.has(name)) return texts;
  // More than a few options and values before the command are nobody's habit.
  const starts = Array.from({ length: Math.min(bare.length - 1, 8) }, (_, index) => index + 1);
  return [...texts, ...starts.map((start) => bare.slice(start).join(" "))];
}
