import { isAbsolute, join, relative } from "node:path";
import { findRealPath, isInside } from "../infrastructure/fs/real-path.ts";
import { foldName } from "../infrastructure/text/unicode.ts";
import { isEverything } from "./policy.ts";
import type { PermissionRule } from "./types.ts";

/**
 * The last rule that matches. A rule that allows has to match the whole command, and its plain characters match only
 * characters of plain words. A rule that denies or asks also matches when the command begins with it, so `curl` matches
 * every call of curl.
 */
export function findCommandRule(
  command: RuleCommand,
  rules: readonly PermissionRule[],
): PermissionRule | undefined {
  return rules.findLast(({ permission, pattern, action }) => {
    if (permission !== "execute") return false;
    if (action === "allow") return matchesText(pattern, command.exactText);
    const texts = [command.text, ...command.otherTexts, ...substituteProgram(pattern, command.text)];
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

/**
 * True when `pattern` matches the whole of `text`: `*` matches any characters, including spaces and slashes, `?`
 * matches one character, everything else matches itself. The worst case takes time proportional to the product of both
 * lengths.
 */
export function matchesText(pattern: string, text: string): boolean {
  let inText = 0;
  let inPattern = 0;
  let star = -1;
  let retryAt = 0;
  while (inText < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      star = inPattern++;
      retryAt = inText;
    } else if (wanted !== undefined && isOne(wanted, text[inText])) {
      inPattern += 1;
      inText += 1;
    } else if (star >= 0) {
      // The last star matches one more character; an earlier one never has to.
      inPattern = star + 1;
      inText = ++retryAt;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** Represents text that only a star may match, such as the names a shell substitutes for `*.ts`. */
const UNKNOWN_TEXT = "\0";

function isOne(wanted: string, found: string | undefined): boolean {
  return wanted === "?" ? found !== UNKNOWN_TEXT : wanted === found;
}

/** A path as rules match it: absolute, with the project it is compared with. */
interface NamedPath {
  path: string;
  /** The project root in the same spelling as the path. */
  root: string;
  home?: string | undefined;
}

/**
 * True when the glob matches the path from the project root or, if it begins with `/` or `~/`, the absolute path. `*`
 * and `?` match within one name, `**` across names. A wide match also accepts other spellings of the same letters and,
 * for `directory/**`, the directory itself: a denied file must be denied under every name.
 */
function matchesPath(pattern: string, named: NamedPath, isWide: boolean): boolean {
  const { glob, isFromRoot } = toGlob(pattern, named);
  const subject = isFromRoot ? relative(named.root, named.path) : named.path;
  if (isFromRoot && !isInside(named.path, named.root)) return false;
  const matcher = globFor(isWide ? foldPattern(glob) : glob);
  if (!isWide) return matcher.match(subject);
  const folded = foldName(subject);
  return matcher.match(folded) || (glob.endsWith("/**") && matcher.match(`${folded}/_`));
}

function toGlob(pattern: string, { root, home }: NamedPath): { glob: string; isFromRoot: boolean } {
  const isHome = pattern === "~" || pattern.startsWith("~/");
  const absolute = isHome && home !== undefined ? join(home, pattern.slice(1)) : pattern;
  if (!isAbsolute(absolute)) return { glob: absolute.replace(/^(?:\.\/)+/, ""), isFromRoot: true };
  return { glob: followPrefix(absolute, root), isFromRoot: false };
}

/**
 * Resolves the directories at the start of a pattern: `/tmp/**` becomes `/private/tmp/**` where `/tmp` is a link to it.
 * Links in the project are not followed, since the user did not create them.
 */
function followPrefix(pattern: string, root: string): string {
  const parts = pattern.split("/");
  const firstGlob = parts.findIndex((part) => /[*?[{!\\]/.test(part));
  const prefix = parts.slice(0, firstGlob < 0 ? parts.length - 1 : firstGlob).join("/") || "/";
  if (isInside(prefix, root)) return pattern;
  const real = findRealPath(prefix, "/");
  if (real === undefined || isInside(real, root)) return pattern;
  return join(real, pattern.slice(prefix.length));
}

const globs = new Map<string, Bun.Glob>();

function globFor(pattern: string): Bun.Glob {
  const known = globs.get(pattern);
  if (known) return known;
  const glob = new Bun.Glob(pattern);
  globs.set(pattern, glob);
  return glob;
}

function foldPattern(pattern: string): string {
  return pattern.normalize("NFKC").toLowerCase();
}

/** A simple command as rules match it. */
interface RuleCommand {
  /** The words joined by one space, as a user writes them in a rule. */
  text: string;
  /** The same text with a mark in place of everything that is not a plain part of one word. */
  exactText: string;
  /** Other texts that rules which deny or ask match: without a directory, or without the program that runs it. */
  otherTexts: readonly string[];
}

/** The words of a command as far as rules need them. */
export type RuleWords = readonly { text: string; isGlob: boolean }[];

/** Converts a command's words for matching. */
export function toRuleCommand(words: RuleWords): RuleCommand {
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

/**
 * The command with the program that a rule names, if the command's program is a pattern that matches it: `/usr/bin/c?rl
 * x` for `curl`.
 */
function substituteProgram(rule: string, command: string): string[] {
  const [path = ""] = command.split(" ", 1);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const [wanted = ""] = rule.split(" ", 1);
  if (!/[*?[]/.test(name) || /[*?]/.test(wanted)) return [];
  const isSpelled = matchesText(name.replace(/\[[^\]]*\]/g, "?"), wanted);
  return isSpelled ? [wanted + command.slice(path.length)] : [];
}

const toSet = (list: string): ReadonlySet<string> => new Set(list.split(" "));

// Programs and shell keywords that run the command in their operands.
const RUNNERS = toSet(
  "env command builtin exec nohup timeout nice ionice time stdbuf setsid sudo doas xargs busybox toybox chroot unshare " +
    "strace ltrace watch parallel flock systemd-run runuser fakeroot proot chronic caffeinate entr unbuffer " +
    "coproc ! { if then elif else while until do",
);

// The runners whose operands are whole lines.
const LINE_RUNNERS = toSet("eval trap bash sh dash ash zsh ksh mksh fish su script ssh");

/** Options that are followed by a command, such as those of find. */
const RUNNING_OPTION = /^(?:-exec|-execdir|-ok|-okdir|--exec|--exec-batch|-x|-X)$/;

// More than a few options and values before the command are unusual.
const MAX_STARTS = 8;

/**
 * Other commands that a deny rule may mean: the program without its directory, and commands that another program runs.
 */
function otherTextsOf(words: readonly string[]): string[] {
  const [program = ""] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  const bare = [name, ...words.slice(1)];
  const starts = RUNNERS.has(name)
    ? Array.from({ length: Math.min(bare.length - 1, MAX_STARTS) }, (_, index) => index + 1)
    : bare.flatMap((word, index) => (RUNNING_OPTION.test(word) ? [index + 1] : []));
  const lines = LINE_RUNNERS.has(name) ? bare.slice(1).flatMap((word) => word.split(/[;&|\n(){}`]/)) : [];
  return [
    ...(name === program ? [] : [bare.join(" ")]),
    ...starts.map((start) => withoutDirectory(bare.slice(start).join(" "))),
    ...lines.map((line) => withoutDirectory(line.trim())).filter((line) => line !== ""),
  ];
}

function withoutDirectory(command: string): string {
  return command.replace(/^[^\s]*\//, "");
}
