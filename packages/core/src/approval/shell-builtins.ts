import type { SimpleCommand } from "./command-syntax.ts";
import { readSimpleCommand } from "./read-only-policy.ts";
import type { LookingJudge } from "./search-policy.ts";

/**
 * What shells do themselves, from the manuals of bash, dash, ksh and zsh, but for what only ends a line. Most of it can
 * change what the words behind it mean: variables such as PATH, aliases, functions, options, where a program is found.
 */
const BUILTINS: ReadonlySet<string> = new Set(
  (
    ". : [ alias autoload bg bind bindkey builtin caller cd chdir command compctl compgen complete compopt coproc declare " +
    "dirs disable disown echo echotc echoti emulate enable eval exec export false fc fg float function functions getln " +
    "getopts hash help hist history inlib integer jobs let local logout mapfile nameref noglob popd print printf " +
    "private pushd pushln pwd read readarray readonly rehash sched select set setopt shift shopt source suspend test " +
    "times trap true ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait " +
    "whence where which zcompile zle zmodload zparseopts zstyle"
  ).split(" "),
);

/**
 * True when a command may change what the words behind it on the same line mean: whatever the shell does itself, unless
 * it is known only to look. A plain `cd` is followed instead.
 */
export function isSteering(command: SimpleCommand, judging: LookingJudge): boolean {
  const name = command[0]?.text ?? "";
  if (name === "cd" || !BUILTINS.has(name)) return false;
  const reading = readSimpleCommand({ command, isPiped: false }, judging);
  return reading === undefined || "obstacle" in reading;
}
