import type { CompletedOption, Vocabulary } from "./vocabulary.ts";

/** The completion script for zsh: to be sourced after `compinit`, or kept as `_diligent` in a directory of `fpath`. */
export function formatZsh({ options, commands }: Vocabulary): string {
  const described = commands.map(({ name, help }) => quote(`${name}:${help}`));
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
  if (named.length === 1) return quote(only + description + argument);
  return `${quote(`(${spellings.join(" ")})`)}{${named.join(",")}}${quote(description + argument)}`;
}

/** A long option takes its value behind a `=` or a space, a short one also with nothing between. */
function suffixOf(spelling: string, value: CompletedOption["value"]): string {
  if (!value) return "";
  return spelling.startsWith("--") ? "=" : "+";
}

function formatArgument({ placeholder, isOptional, from }: NonNullable<CompletedOption["value"]>): string {
  const action = typeof from === "string" ? ACTIONS[from] : `(${from.join(" ")})`;
  return `${isOptional ? "::" : ":"}${placeholder}:${action}`;
}

const ACTIONS = { file: "_files", directory: "_files -/", session: "_diligent_sessions", any: " " } as const;

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
