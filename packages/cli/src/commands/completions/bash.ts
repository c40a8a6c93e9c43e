import { type CompletedOption, type Vocabulary, valuedSpellings } from "./vocabulary.ts";

/**
 * The completion script for bash, 3.2 and later. What is no word of ours (a file, a prompt) is left to the shell's own
 * completion of file names.
 */
export function formatBash({ options, commands }: Vocabulary): string {
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
  /** Of the command; empty where none has been named. */
  name: string;
  words: readonly string[];
  options: readonly CompletedOption[];
  sessionBehind: readonly string[];
}

/** What may stand directly behind an option, or behind a word. */
function formatValues({ name, options, sessionBehind }: Part): string[] {
  const isSession = ({ value }: CompletedOption) => value?.from === "session";
  const before = [...options.filter(isSession).flatMap(({ spellings }) => spellings), ...sessionBehind];
  const pattern = before.map((word) => `"${name}:${word}"`).join("|");
  const values = options.flatMap((option) => (isSession(option) ? [] : formatValue(name, option)));
  if (before.length === 0) return values;
  // What is no number is a word of a prompt, or an id that is known already.
  const offer = '[[ $current == *[!0-9]* ]] || { _diligent_sessions "$current"; return; }';
  return [...values, `        ${pattern}) ${offer} ;;`];
}

function formatValue(command: string, { spellings, value }: CompletedOption): string[] {
  if (!value) return [];
  const pattern = spellings.map((spelling) => `"${command}:${spelling}"`).join("|");
  // Before version 4 bash cannot be told, and offers files too.
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
