import { isAbsolute, join, relative } from "node:path";
import { findRealPath, isInside } from "../infrastructure/fs/real-path.ts";
import { foldName } from "../infrastructure/text/unicode.ts";
import { isEverything } from "./policy.ts";
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

/**
 * True when `pattern` matches the whole of `text`: `*` is any number of any characters, spaces and slashes included,
 * `?` is one, everything else is itself. Takes time in proportion to both lengths at worst, whatever the pattern.
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
      // The last star takes one character more; an earlier one never has to.
      inPattern = star + 1;
      inText = ++retryAt;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** Stands in a text for what only a star may match, such as what a shell puts in the place of `*.ts`. */
const UNKNOWN_TEXT = "\0";

function isOne(wanted: string, found: string | undefined): boolean {
  return wanted === "?" ? found !== UNKNOWN_TEXT : wanted === found;
}

/** A path as rules see it: absolute, with the project it is compared with. */
interface NamedPath {
  path: string;
  /** The project root as this path would begin with it. */
  root: string;
  home?: string | undefined;
}

/**
 * True when the glob matches the path from the project root, or, beginning with `/` or `~/`, the absolute path. `*`
 * and `?` stay within one name, `**` does not. A wide match also counts other spellings of the same letters and, for
 * `directory/**`, the directory itself: what is to be kept away is kept away under every name.
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
 * The directories a pattern begins with, by real path: `/tmp/**` is `/private/tmp/**` where that is what `/tmp`
 * means. Links in the project are not followed, since they are not the user's.
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

/** A simple command as rules see it. */
interface RuleCommand {
  /** Words joined by one space, as a person would write a rule about them. */
  text: string;
  /** The same with a mark in the place of everything that is no plain part of one word. */
  exactText: string;
  /** Other texts under which a rule that denies or asks finds it: without a directory or what runs it. */
  otherTexts: readonly string[];
}

/** A command's words, as far as rules need them. */
export type RuleWords = readonly { text: string; isGlob: boolean }[];

/** How rules see a command's words. */
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

/** The command as if its program, which is a pattern, stood for the one that a rule names: `/usr/bin/c?rl x` for `curl`. */
function spellLike(rule: string, command: string): string[] {
  const [path = ""] = command.split(" ", 1);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const [wanted = ""] = rule.split(" ", 1);
  if (!/[*?[]/.test(name) || /[*?]/.test(wanted)) return [];
  const isSpelled = matchesText(name.replace(/\[[^\]]*\]/g, "?"), wanted);
  return isSpelled ? [wanted + command.slice(path.length)] : [];
}

const toSet = (list: string): ReadonlySet<string> => new Set(list.split(" "));

// Programs, and words of the shell, that run the command in their operands.
const RUNNERS = toSet(
  "env command builtin exec nohup timeout nice ionice time stdbuf setsid sudo doas xargs busybox toybox chroot unshare " +
    "strace ltrace watch parallel flock systemd-run runuser fakeroot proot chronic caffeinate entr unbuffer " +
    "coproc ! { if then elif else while until do",
);

// Of these, the operands are whole lines.
const LINE_RUNNERS = toSet("eval trap bash sh dash ash zsh ksh mksh fish su script ssh");

/** Options behind which a command stands, such as those of find. */
const RUNNING_OPTION = /^(?:-exec|-execdir|-ok|-okdir|--exec|--exec-batch|-x|-X)$/;

// More than a few options and values before the command are unusual.
const MAX_STARTS = 8;

/**
 * Other commands that a denying rule may mean: the program without its directory, and commands run by way of
 * another.
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
