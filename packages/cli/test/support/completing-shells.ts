import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The environment of a shell: the completion script, and the directory whose files it sees, which is also its
 * home.
 */
export interface CompletingPlace {
  script: string;
  directory: string;
}

/** What a shell offers for each of some lines, sorted; the cursor is at the end of the line. */
export type OfferInShell = (place: CompletingPlace, lines: readonly string[]) => Promise<string[][]>;

const BETWEEN = "\u0001";

/**
 * Creates a `diligent` in `bin` of a directory that can only list three sessions, one with a name that a
 * shell would execute and a terminal obey.
 * @returns the path of `bin`.
 */
export function plantSessionList(directory: string): string {
  const bin = join(directory, "bin");
  const rows = ["1. [2026-02-25 10:30] $(touch canary): `x` (1 message)", "2. [] b (2 messages)", "12. [] c"];
  const list = ["Sessions:", ...rows.map((row) => row.padStart(row.length + 2))].join("\n");
  mkdirSync(bin, { recursive: true });
  const text = `#!/bin/sh\n[ "$*" = --list ] || exit 2\ncat <<'END'\n${list}\nEND\n`;
  writeFileSync(join(bin, "diligent"), text, { mode: 0o755 });
  return bin;
}

/** Runs a shell without the user's settings; its output is a list of lists. */
async function offer(command: readonly string[], { directory }: CompletingPlace): Promise<string[][]> {
  const env = { PATH: `${join(directory, "bin")}:${process.env.PATH}`, HOME: directory, TERM: "xterm" };
  const shell = Bun.spawn([...command], { cwd: directory, env, stdin: "ignore", stderr: "pipe" });
  const [output, errors, exitCode] = await Promise.all([
    shell.stdout.text(),
    shell.stderr.text(),
    shell.exited,
  ]);
  if (errors !== "" || exitCode !== 0) throw new Error(`${command[0]} exits with ${exitCode}: ${errors}`);
  const lists = output.split(BETWEEN).slice(1);
  return lists.map((list) => [...new Set(list.split("\n").filter((word) => word !== ""))].sort());
}

const FISH = `source $argv[1]
for line in $argv[2..]
    printf '\\x01'
    complete -C $line | cut -f 1
end`;

/** How fish completes a line without a terminal. */
export const offerInFish: OfferInShell = (place, lines) =>
  offer(["fish", "--no-config", "-c", FISH, place.script, ...lines], place);

/**
 * Zsh completes only at its prompt, so it gets a terminal. The candidates passed to `compadd` are printed
 * there between two marks. A line is typed when zsh has reported that it reads keys: before that, the
 * terminal would handle ^U itself. ^U and Return after the tab make it report again.
 */
const ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source '$1
zpty -w shell 'compadd () {
  if [[ \${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then
    typeset -a offered; builtin compadd -A offered "$@"
    [[ -n $offered ]] && print -rl -- "<word>"\${^offered}"</word>"
  fi
  builtin compadd "$@"
}
bindkey "^I" complete-word
zle-line-init () { print "<read""y>" }; zle -N zle-line-init'
zpty -r shell seen '*<ready>*'
for line in "\${@[2,-1]}"; do
  zpty -w -n shell "$line"$'\\t\\x15\\n'
  zpty -r shell seen '*<ready>*'
  printf '\\x01'
  print -r -- $seen | tr -d '\\r' | sed -n 's/.*<word>\\(.*\\)<.word>.*/\\1/p'
done
zpty -d shell`;

/** How zsh completes a line typed in a terminal. */
export const offerInZsh: OfferInShell = (place, lines) =>
  offer(["zsh", "-f", "-c", ZSH, "zsh", place.script, ...lines], place);
