import { nearestName } from "@diligent/core/light";
import { OPTIONS, type Option, optionLabel } from "../arguments/options.ts";
import { isSubcommandWord, SUBCOMMAND_PAGES, type SubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { readSubcommandArguments } from "./arguments.ts";

/**
 * The completion script for bash 3.2 and later. Everything else (a file, a prompt) is left to the shell's own file
 * completion.
 */
function formatBash({ options, commands }: Vocabulary): string {
  const names = commands.map(({ name }) => name);
  const parts = [{ name: "", words: names, options, sessionBehind: [] }, ...commands];
  return `# bash completion for diligent, made by: diligent completions bash
# Offers the numbers of this project's list of sessions, and shows what they stand for.
_diligent_sessions() {
    local line number row='^ *([0-9]{1,3})\\. (.*)'
    # Before version 4 bash cannot be told, and offers files where there is no session.
    compopt +o bashdefault +o default 2>/dev/null
    # Those of another directory are not known here.
    [[ " \${COMP_WORDS[*]}" == *" -C"* ]] && return
    while IFS= read -r line; do
        [[ $line =~ $row ]] || continue
        number="\${BASH_REMATCH[1]}"
        [[ $number == "$1"* ]] || continue
        # What is only listed never gets into the line.
        [[ $COMP_TYPE == 63 ]] && number="$number \${BASH_REMATCH[2]}"
        COMPREPLY+=("$number")
    done < <(command diligent --list 2>/dev/null </dev/null)
}
_diligent() {
    local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
    local command="" leads=1 place=0 index words=""
    COMPREPLY=()
    # Bash takes \`--approval=auto\` for three words.
    if [[ $current == "=" ]]; then
        current=""
    elif [[ $previous == "=" && $COMP_CWORD -gt 2 ]]; then
        previous="\${COMP_WORDS[COMP_CWORD-2]}"
    fi
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "\${COMP_WORDS[index]}" in
            --) return ;;
            =) index=$((index + 1)) ;;
            -C) index=$((index + 1)) ;;
            -C*) ;;
            ${valuedSpellings({ options, commands }).join("|")})
                leads=0
                [[ \${COMP_WORDS[index+1]} == "=" ]] || index=$((index + 1)) ;;
            -*) leads=0 ;;
            *)
                if [[ -z $command && $leads -eq 1 ]]; then
                    case "\${COMP_WORDS[index]}" in
                        ${names.join("|")}) command="\${COMP_WORDS[index]}"; continue ;;
                    esac
                fi
                leads=0
                place=$((place + 1)) ;;
        esac
    done
    case "$command:$previous" in
${parts.flatMap(formatValues).join("\n")}
    esac
    case "$command" in
${parts.map((part) => formatPart(part)).join("\n")}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _diligent diligent
`;
}

interface Part {
  /** The command's name; empty if there is none yet. */
  name: string;
  words: readonly string[];
  options: readonly CompletedOption[];
  sessionBehind: readonly string[];
}

/** Completions directly after an option or a word. */
function formatValues({ name, options, sessionBehind }: Part): string[] {
  const isSession = ({ value }: CompletedOption) => value?.from === "session";
  const before = [...options.filter(isSession).flatMap(({ spellings }) => spellings), ...sessionBehind];
  const pattern = before.map((word) => `"${name}:${word}"`).join("|");
  const values = options.flatMap((option) => (isSession(option) ? [] : formatValue(name, option)));
  if (before.length === 0) return values;
  // A word that is not a number belongs to a prompt, or is an id the user already knows.
  const offer = '[[ $current == *[!0-9]* ]] || { _diligent_sessions "$current"; return; }';
  return [...values, `        ${pattern}) ${offer} ;;`];
}

function formatValue(command: string, { spellings, value }: CompletedOption): string[] {
  if (!value) return [];
  const pattern = spellings.map((spelling) => `"${command}:${spelling}"`).join("|");
  // Bash before version 4 cannot be told otherwise and offers files too.
  const onlyDirectories = "compopt +o bashdefault +o default -o dirnames 2>/dev/null";
  if (value.from === "directory") return [`        ${pattern}) ${onlyDirectories}; return ;;`];
  const words = Array.isArray(value.from) ? value.from.join(" ") : "";
  // Without words the shell offers file names.
  return [`        ${pattern}) COMPREPLY=($(compgen -W "${words}" -- "$current")); return ;;`];
}

function formatPart(part: Part): string {
  const options = part.options.flatMap(({ spellings }) => spellings).join(" ");
  const words = part.words.join(" ");
  const isFirst = part.name === "" ? "$leads -eq 1" : "$place -eq 0";
  return `        "${part.name}")
            if [[ $current == -* ]]; then words="${options}"; elif [[ ${isFirst} ]]; then words="${words}"; fi ;;`;
}

/** The completion script for zsh: source it after `compinit`, or save it as `_diligent` in a directory of `fpath`. */
function formatZsh({ options, commands }: Vocabulary): string {
  const described = commands.map(({ name, help }) => quoteForZsh(`${name}:${help}`));
  const rows = [...options.map(formatOption), "'*: :->word'"];
  return `#compdef diligent
# zsh completion for diligent, made by: diligent completions zsh
# The numbers of this project's list of sessions, each with what it stands for.
_diligent_sessions() {
    # Those of another directory are not known here.
    [[ -n $elsewhere ]] && return
    local -a sessions
    sessions=(\${(f)"$(command diligent --list 2>/dev/null </dev/null | sed -En 's/^ *([0-9]{1,3})\\. /\\1:/p')"})
    _describe -V -t sessions session sessions
}
_diligent() {
    local context state state_descr line elsewhere=\${words[(r)-C*]}
    typeset -A opt_args
    local -a commands
    local -i place=2
    commands=(
${described.map((command) => `        ${command}`).join("\n")}
    )
    # In front of a command stands nothing but -C.
    while [[ $place -lt $CURRENT && $words[place] == -C* ]]; do
        [[ $words[place] == -C ]] && (( place++ ))
        (( place++ ))
    done
    if [[ $place -lt $CURRENT && -n \${commands[(r)\${(b)words[place]}:*]} ]]; then
        (( CURRENT -= place - 1 ))
        shift $(( place - 1 )) words
        case $words[1] in
${commands.map(formatCommand).join("\n")}
        esac
        return
    fi
    _arguments -C -S \\
${rows.map((row) => `        ${row}`).join(" \\\n")} && return
    if [[ $state == word ]]; then
        [[ $place -eq $CURRENT ]] && _describe -t commands 'diligent command' commands
        _files
    fi
}
if [[ $funcstack[1] == _diligent ]]; then
    _diligent "$@"
else
    compdef _diligent diligent
fi
`;
}

function formatCommand({ name, words, options, sessionBehind }: Vocabulary["commands"][number]): string {
  const session = sessionBehind.length > 0 ? `'${words.length > 0 ? 2 : 1}: :_diligent_sessions'` : [];
  const first = words.length > 0 ? `'1: :(${words.join(" ")})'` : [];
  const rows = [...options.map(formatOption), first, session, "'*: : '"].flat();
  return `            ${name})
                _arguments -S \\
${rows.map((row) => `                    ${row}`).join(" \\\n")}
                ;;`;
}

/** `'(-m --model)'{-m,--model=}'[help]:MODEL:(a b)'`: each spelling excludes the others. */
function formatOption({ spellings, help, value }: CompletedOption): string {
  const description = `[${help.replaceAll(/[[\]\\:]/g, "\\$&")}]`;
  const argument = value ? formatArgument(value) : "";
  const named = spellings.map((spelling) => spelling + suffixOf(spelling, value));
  const [only = ""] = named;
  if (named.length === 1) return quoteForZsh(only + description + argument);
  return `${quoteForZsh(`(${spellings.join(" ")})`)}{${named.join(",")}}${quoteForZsh(description + argument)}`;
}

/** A long option takes its value after `=` or a space, a short one also directly. */
function suffixOf(spelling: string, value: CompletedOption["value"]): string {
  if (!value) return "";
  return spelling.startsWith("--") ? "=" : "+";
}

function formatArgument({ placeholder, isOptional, from }: NonNullable<CompletedOption["value"]>): string {
  const action = typeof from === "string" ? ACTIONS[from] : `(${from.join(" ")})`;
  return `${isOptional ? "::" : ":"}${placeholder}:${action}`;
}

const ACTIONS = { file: "_files", directory: "_files -/", session: "_diligent_sessions", any: " " } as const;

function quoteForZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// Completions before any command is named, and once none can be named any more.
const START = "start";
const PROMPT = "prompt";

/** The completion script for fish 3.1 and later: save it as `~/.config/fish/completions/diligent.fish`. */
function formatFish(vocabulary: Vocabulary): string {
  const { options, commands } = vocabulary;
  const lines = [
    ...options.map((option) => formatFishOption(at(START, PROMPT), option)),
    ...formatSessions([START, PROMPT], sessionOptions(options)),
    ...commands.map(
      ({ name, help }) => `complete -c diligent -n ${at(START)} -f -a ${name} -d ${quote(help)}`,
    ),
    ...commands.flatMap(({ name, words, sessionBehind, options: own }) => [
      `complete -c diligent -n ${at(name, `${name}+`)} -f`,
      ...(words.length > 0 ? [`complete -c diligent -n ${at(name)} -f -a ${quote(words.join(" "))}`] : []),
      ...formatSessions([name, `${name}+`], sessionBehind),
      ...own.map((option) => formatFishOption(at(name, `${name}+`), option)),
    ]),
  ];
  return `# fish completion for diligent, made by: diligent completions fish
${formatFunctions(vocabulary)}
${lines.join("\n")}
`;
}

/** Fish's own detection of subcommands mistakes the value of an option for one. */
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

/** Options with an optional value: fish does not treat the next word as their value. */
function sessionOptions(options: readonly CompletedOption[]): string[] {
  return options.flatMap(({ spellings, value }) => (value?.isOptional ? spellings : []));
}

/** @param before the words directly followed by a session. */
function formatSessions(places: readonly string[], before: readonly string[]): string[] {
  if (before.length === 0) return [];
  const condition = `__diligent_at ${places.join(" ")}; and __diligent_behind ${before.join(" ")}`;
  return [`complete -c diligent -n ${quote(condition)} -f -k -a '(__diligent_sessions)'`];
}

/** The condition that one of these precedes the cursor; never true after `--`. */
function at(...places: string[]): string {
  return quote(`__diligent_at ${places.join(" ")}`);
}

function formatFishOption(condition: string, { spellings, help, value }: CompletedOption): string {
  const names = spellings.map((spelling) =>
    spelling.startsWith("--") ? `-l ${spelling.slice(2)}` : `-s ${spelling.slice(1)}`,
  );
  const words = [
    `complete -c diligent -n ${condition}`,
    ...names,
    formatFishValue(value),
    `-d ${quote(help)}`,
  ];
  return words.filter((word) => word !== "").join(" ");
}

/** `-x`: takes a value, no files; `-r`: takes a value, files are offered. */
function formatFishValue(value: CompletedOption["value"]): string {
  if (!value) return "-f";
  // Without `-r` it is only offered after `=`: the next word is a value only if it looks like one.
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

const SHELLS: Readonly<Record<SubcommandWord<"completions">, (vocabulary: Vocabulary) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

/** Unsupported shells: a user who names one means it, however similar another name is. */
const OTHER_SHELLS: ReadonlySet<string> = new Set(
  "ash cmd csh dash elvish ksh mksh nu nushell oil osh powershell pwsh rc sh tcsh xonsh yash".split(" "),
);

/**
 * Writes the completion script for a shell. Reads no configuration: it offers only the built-in models.
 * @throws UsageError for an unsupported shell.
 */
export async function runCompletions(rest: readonly string[], { stdout }: CliIo): Promise<number> {
  const { words } = readSubcommandArguments("completions", rest);
  const [shell, other] = words;
  if (shell === undefined || !isSubcommandWord("completions", shell)) throw unknownShell(shell);
  if (other !== undefined) throw new UsageError(`completions takes one shell, not also ${other}`);
  const { KNOWN_MODELS } = await import("@diligent/core/run");
  const models = KNOWN_MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  stdout.write(SHELLS[shell](createVocabulary([...new Set(models)])));
  return EXIT_SUCCESS;
}

function unknownShell(shell: string | undefined): UsageError {
  const known = SUBCOMMAND_PAGES.completions.words ?? [];
  if (shell === undefined) return new UsageError(`completions needs a shell: ${known.join(", ")}`);
  const nearest = OTHER_SHELLS.has(shell) ? undefined : nearestName(shell, known);
  const hint = nearest === undefined ? "choose bash, zsh or fish" : `did you mean ${nearest}?`;
  return new UsageError(`completions: unknown shell ${shell} (${hint})`);
}

/** An option for shell completion. */
interface CompletedOption {
  /** With dashes, the short one first. */
  spellings: string[];
  help: string;
  /** What may follow as its value; undefined for an option without a value. */
  value?: {
    placeholder: string;
    isOptional: boolean;
    from: readonly string[] | "file" | "directory" | "session" | "any";
  };
}

/** A subcommand for shell completion; `help` is one line. */
interface CompletedCommand {
  name: string;
  help: string;
  /** The allowed first words. */
  words: readonly string[];
  /** The words directly followed by a session; may include its own name. */
  sessionBehind: readonly string[];
  options: CompletedOption[];
}

/** Everything a shell can complete, from the tables that also drive parsing and help. */
interface Vocabulary {
  options: CompletedOption[];
  commands: CompletedCommand[];
}

interface Row {
  name: string;
  alias?: string;
  value?: string;
  takes?: "reference";
  choices?: readonly string[];
  completes?: "file" | "directory" | "model" | "session";
  help: string;
}

const HELP_ROW: Row = { name: "help", alias: "h", help: "print help" };

/** @param models the ids and aliases offered for a model. */
function createVocabulary(models: readonly string[]): Vocabulary {
  const commands = Object.entries(SUBCOMMAND_PAGES).map(
    ([name, { about, words = [], sessionBehind = [], options }]) => ({
      name,
      help: about,
      words,
      sessionBehind,
      options: [...options, HELP_ROW].map((row) => complete(row, models)),
    }),
  );
  const help = { name: "help", help: "print help, or help for a command", sessionBehind: [], options: [] };
  commands.push({ ...help, words: commands.map(({ name }) => name) });
  commands.push({ name: "version", help: "print the version", words: [], sessionBehind: [], options: [] });
  return {
    options: OPTIONS.map((option: Option) => ({
      ...complete(option, models),
      spellings: spellingsOf(optionLabel(option), option.alias),
    })),
    commands,
  };
}

/**
 * The options that consume the next word, including those of the commands. `-C` is excluded: it alone may precede a
 * command. An option with an optional value does not always consume the next word.
 */
function valuedSpellings({ options, commands }: Vocabulary): string[] {
  const all = [...options, ...commands.flatMap((command) => command.options)];
  const spellings = all.flatMap((option) =>
    option.value && !option.value.isOptional ? option.spellings : [],
  );
  return [...new Set(spellings)].filter((spelling) => spelling !== "-C");
}

function complete(row: Row, models: readonly string[]): CompletedOption {
  const { name, alias, value, takes, choices, completes, help } = row;
  const spellings = spellingsOf(`--${name}`, alias);
  if (value === undefined) return { spellings, help };
  const isReference = takes === "reference";
  const what = isReference ? "session" : (completes ?? "any");
  const from = choices ?? (what === "model" ? models : what);
  return { spellings, help, value: { placeholder: value, isOptional: isReference, from } };
}

function spellingsOf(label: string, alias: string | undefined): string[] {
  const short = alias === undefined ? [] : [`-${alias}`];
  return [...new Set([...short, label])];
}
