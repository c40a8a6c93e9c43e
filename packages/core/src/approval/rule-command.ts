import { matchesText, UNKNOWN_TEXT } from "./text-pattern.ts";

/** A simple command as rules see it. */
export interface RuleCommand {
  /** Words joined by one space, as a person would write a rule about them. */
  text: string;
  /** The same with a mark in the place of everything that is no plain part of one word. */
  exactText: string;
  /** Other texts under which a rule that denies or asks finds it: without a directory or what runs it. */
  otherTexts: readonly string[];
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

/** The command as if its program, which is a pattern, stood for the one that a rule names: `/usr/bin/c?rl x` for `curl`. */
export function spellLike(rule: string, command: string): string[] {
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

// More than a few options and values before the command are nobody's habit.
const MAX_STARTS = 8;

/** What a rule that denies may have meant: the program without its directory, and what is run by way of another. */
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
