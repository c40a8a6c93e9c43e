import { type CompletedOption, type Vocabulary, valuedSpellings } from "./vocabulary.ts";

// What stands where no command has been named, and where none can be named any more.
const START = "start";
const PROMPT = "prompt";

/** The completion script for fish, 3.1 and later: to be kept as `~/.config/fish/completions/diligent.fish`. */
export function formatFish(vocabulary: Vocabulary): string {
  const { options, commands } = vocabulary;
  const lines = [
    ...options.map((option) => formatOption(at(START, PROMPT), option)),
    ...formatSessions([START, PROMPT], sessionOptions(options)),
    ...commands.map(
      ({ name, help }) => `complete -c diligent -n ${at(START)} -f -a ${name} -d ${quote(help)}`,
    ),
    ...commands.flatMap(({ name, words, sessionBehind, options: own }) => [
      `complete -c diligent -n ${at(name, `${name}+`)} -f`,
      ...(words.length > 0 ? [`complete -c diligent -n ${at(name)} -f -a ${quote(words.join(" "))}`] : []),
      ...formatSessions([name, `${name}+`], sessionBehind),
      ...own.map((option) => formatOption(at(name, `${name}+`), option)),
    ]),
  ];
  return `# fish completion for diligent, made by: diligent completions fish
${formatFunctions(vocabulary)}
${lines.join("\n")}
`;
}

/** Fish's own way of telling commands apart takes the value of an option for one. */
function formatFunctions(vocabulary: Vocabulary): string {
  const names = vocabulary.commands.map(({ name }) => name);
  return `# Says what stands before the cursor: ${START}, ${PROMPT}, a command, or NAME+ where a word follows its name.
function __diligent_place
    set -l words (commandline -opc)
    set -e words[1]
    set -l place ${START}
    set -l takes_next 0
    for word in $words
        if test $takes_next -eq 1
            set takes_next 0
            continue
        end
        switch $word
            case --
                return
            case -C
                set takes_next 1
            case '-C*'
            case ${valuedSpellings(vocabulary).join(" ")}
                set takes_next 1
                test $place = ${START}; and set place ${PROMPT}
            case '-*'
                test $place = ${START}; and set place ${PROMPT}
            case '*'
                if test $place = ${START}
                    set place ${PROMPT}
                    contains -- $word ${names.join(" ")}; and set place $word
                else if test $place != ${PROMPT}
                    set place (string trim -r -c + -- $place)+
                end
        end
    end
    echo $place
end
function __diligent_at
    contains -- (__diligent_place) $argv
end
function __diligent_behind
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end
# The numbers of this project's list of sessions, each with what it stands for.
function __diligent_sessions
    # Those of another directory are not known here.
    string match -q -- '-C*' (commandline -opc); and return
    command diligent --list 2>/dev/null </dev/null | string replace -rf '^ *(\\d{1,3})\\. ' '$1\\t'
end`;
}

/** The options whose value may be left out: what stands behind one is no value to fish. */
function sessionOptions(options: readonly CompletedOption[]): string[] {
  return options.flatMap(({ spellings, value }) => (value?.isOptional ? spellings : []));
}

/** @param before the words directly behind which a session is named. */
function formatSessions(places: readonly string[], before: readonly string[]): string[] {
  if (before.length === 0) return [];
  const condition = `__diligent_at ${places.join(" ")}; and __diligent_behind ${before.join(" ")}`;
  return [`complete -c diligent -n ${quote(condition)} -f -k -a '(__diligent_sessions)'`];
}

/** The condition that one of these stands before the cursor; behind `--` nothing does. */
function at(...places: string[]): string {
  return quote(`__diligent_at ${places.join(" ")}`);
}

function formatOption(condition: string, { spellings, help, value }: CompletedOption): string {
  const names = spellings.map((spelling) =>
    spelling.startsWith("--") ? `-l ${spelling.slice(2)}` : `-s ${spelling.slice(1)}`,
  );
  const words = [`complete -c diligent -n ${condition}`, ...names, formatValue(value), `-d ${quote(help)}`];
  return words.filter((word) => word !== "").join(" ");
}

/** `-x`: a value and no file; `-r`: a value, files are offered. */
function formatValue(value: CompletedOption["value"]): string {
  if (!value) return "-f";
  // Without `-r` it is only offered behind `=`: the next word is its value only if it looks like one.
  if (value.isOptional) return "-f -k -a '(__diligent_sessions)'";
  if (value.from === "any") return "-x";
  if (value.from === "file") return "-r -F";
  if (value.from === "session") return "-x -k -a '(__diligent_sessions)'";
  if (value.from === "directory") return "-x -a '(__fish_complete_directories)'";
  return `-x -a ${quote(value.from.join(" "))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
