import type { CompletedOption, Vocabulary } from "./vocabulary.ts";

/**
 * The completion script for bash, 3.2 and later. What is no word of ours (a file, a prompt) is left to the shell's own
 * completion of file names.
 */
export function formatBash({ options, commands }: Vocabulary): string {
  const names = commands.map(({ name }) => name);
  const parts = [{ name: "", words: names, options }, ...commands];
  return `# bash completion for diligent, made by: diligent completions bash
_diligent() {
    local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
    local command="" place=0 index words=""
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
            ${valued(options).join("|")})
                [[ \${COMP_WORDS[index+1]} == "=" ]] || index=$((index + 1)) ;;
            -*) ;;
            *)
                if [[ -z $command && $place -eq 0 ]]; then
                    case "\${COMP_WORDS[index]}" in
                        ${names.join("|")}) command="\${COMP_WORDS[index]}"; continue ;;
                    esac
                fi
                place=$((place + 1)) ;;
        esac
    done
    case "$command:$previous" in
${parts.flatMap(({ name, options: own }) => own.flatMap((option) => formatValue(name, option))).join("\n")}
    esac
    case "$command" in
${parts.map((part) => formatPart(part)).join("\n")}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _diligent diligent
`;
}

/** An option whose value may be left out does not take the next word in any case. */
function valued(options: readonly CompletedOption[]): string[] {
  return options.flatMap(({ spellings, value }) => (value && !value.isOptional ? spellings : []));
}

function formatValue(command: string, { spellings, value }: CompletedOption): string[] {
  if (!value || value.isOptional) return [];
  const pattern = spellings.map((spelling) => `"${command}:${spelling}"`).join("|");
  const words = Array.isArray(value.from) ? value.from.join(" ") : "";
  // Without words the shell offers file names.
  return [`        ${pattern}) COMPREPLY=($(compgen -W "${words}" -- "$current")); return ;;`];
}

function formatPart(part: {
  name: string;
  words: readonly string[];
  options: readonly CompletedOption[];
}): string {
  const options = part.options.flatMap(({ spellings }) => spellings).join(" ");
  const words = part.words.join(" ");
  return `        "${part.name}")
            if [[ $current == -* ]]; then words="${options}"; elif [[ $place -eq 0 ]]; then words="${words}"; fi ;;`;
}
