import { readFindExpression } from "./find-expression.ts";
import type { Operand } from "./program-options.ts";
import { readOptions } from "./program-options.ts";
import { namesOnly, type ProgramReading, type ProgramSpec } from "./program-spec.ts";

/** Programs whose operands are a language, or whose options follow rules of their own. */
export interface SpecialProgram {
  read(words: readonly Operand[], isPiped: boolean): ProgramReading;
  isBuiltin?: boolean;
}

export const SPECIAL_PROGRAMS: Readonly<Record<string, SpecialProgram>> = {
  echo: { read: (words) => namesOnly(words.flatMap(({ names }) => names ?? [])), isBuiltin: true },
  printf: { read: readPrintf, isBuiltin: true },
  test: { read: (words) => readTest(words), isBuiltin: true },
  "[": { read: readBracket, isBuiltin: true },
  command: { read: readCommandLookup, isBuiltin: true },
  find: { read: readFindExpression },
  rg: { read: readRipgrep },
  sed: { read: readSed },
  jq: { read: readJq },
};

/** The only option that means anything writes into a variable, whose index may run a command. */
function readPrintf(words: readonly Operand[]): ProgramReading {
  const [format, ...rest] = words[0]?.text === "--" ? words.slice(1) : words;
  if (!format || format.names !== undefined) return { obstacle: "its format" };
  if (format.text.startsWith("-") && words[0] === format) return { obstacle: `the option ${format.text}` };
  return namesOnly(rest.flatMap(({ names }) => names ?? []));
}

// Not `-v` and `-R`: the index of a variable is evaluated, and may run a command.
const TESTS: ReadonlySet<string> = new Set([
  ...[
    "-e",
    "-f",
    "-d",
    "-r",
    "-w",
    "-x",
    "-s",
    "-h",
    "-L",
    "-z",
    "-n",
    "-S",
    "-p",
    "-b",
    "-c",
    "-k",
    "-u",
    "-g",
  ],
  ...[
    "-O",
    "-G",
    "-N",
    "=",
    "==",
    "!=",
    "<",
    ">",
    "-eq",
    "-ne",
    "-lt",
    "-le",
    "-gt",
    "-ge",
    "-nt",
    "-ot",
    "-ef",
  ],
  ...["!", "-a", "-o", "(", ")"],
]);

function readTest(words: readonly Operand[]): ProgramReading {
  const operands = words.filter(({ text }) => !TESTS.has(text));
  const strange = operands.find(({ text, names }) => names !== undefined || /^-(?!\d+$)/.test(text));
  if (strange) return { obstacle: strange.text };
  return namesOnly(operands.map(({ text }) => text));
}

function readBracket(words: readonly Operand[]): ProgramReading {
  return words.at(-1)?.text === "]" ? readTest(words.slice(0, -1)) : { obstacle: "no closing ]" };
}

/** Only asking what a name stands for; anything else would run it. */
function readCommandLookup([option, ...names]: readonly Operand[]): ProgramReading {
  const isLookup = option?.text === "-v" || option?.text === "-V";
  const isPlain = names.every((operand) => operand.names === undefined && !operand.text.startsWith("-"));
  return isLookup && isPlain ? namesOnly([]) : { obstacle: "what it is used for" };
}

const RIPGREP: ProgramSpec = {
  flags:
    "i n N l c v w s S F o x U P H h q a u p I . 0 --ignore-case --smart-case --case-sensitive --line-number --no-line-number " +
    "--files-with-matches --files-without-match --count --count-matches --invert-match --word-regexp --fixed-strings " +
    "--only-matching --line-regexp --multiline --multiline-dotall --pcre2 --with-filename --no-filename --quiet --text " +
    "--hidden --no-hidden --no-ignore --no-ignore-vcs --unrestricted --heading --no-heading --color --json --stats --vimgrep " +
    "--trim --pretty --column --null --no-messages --no-config --files --type-list --one-file-system --glob-case-insensitive",
  values:
    "A B C g m t T M r d j E --after-context --before-context --context --glob --iglob --max-count --type --type-not " +
    "--max-columns --replace --max-depth --threads --sort --sortr --max-filesize --encoding --colors --context-separator",
  pathValues: "f --file --ignore-file",
  patternValues: "e --regexp f --file",
  operands: "pattern_and_paths",
};

/** Reads everything below its paths; without paths what it is piped, else the working directory. */
function readRipgrep(words: readonly Operand[], isPiped: boolean): ProgramReading {
  const texts = words.map(({ text }) => text);
  const listsOnly = texts.includes("--files") || texts.includes("--type-list");
  // Listing takes no pattern: one is put in so that the first operand counts as a path.
  const read = readOptions(listsOnly ? [{ text: "", names: undefined }, ...words] : words, RIPGREP);
  if ("obstacle" in read) return read;
  const showsHidden = texts.some((text) => /^--(?:hidden|unrestricted)$|^-[^-]*[.u]/.test(text));
  return {
    use: {
      ...read.use,
      readsContent: !listsOnly,
      isRecursive: read.use.paths.length > 0 || !isPiped,
      skipsHidden: !showsHidden,
    },
  };
}

const SED: ProgramSpec = {
  flags: "n E r s u --quiet --silent --regexp-extended --separate --unbuffered",
  operands: "pattern_and_paths",
};
const SED_REGEX = String.raw`(?:[^/\\\n[\]]|\\[^\nc]|\[\^?[^\]/\\\n[]+\])*`;
const SED_ADDRESS = String.raw`(?:\d+|\$|/${SED_REGEX}/)`;
const SED_COMMAND = String.raw`(?:${SED_ADDRESS}(?:,\s*(?:\+?\d+|${SED_ADDRESS}))?)?\s*!?(?:[pd=]|q|s/${SED_REGEX}/${SED_REGEX}/[gpI\d]*)`;
const SED_SCRIPT = new RegExp(`^\\s*${SED_COMMAND}(?:\\s*;\\s*${SED_COMMAND})*\\s*;?\\s*$`);

/** Printing, deleting and replacing on the way to stdout; it could also write files and run commands. */
function readSed(words: readonly Operand[]): ProgramReading {
  const script = words.find(({ text }) => !text.startsWith("-"));
  if (!script || script.text.length > 200 || !SED_SCRIPT.test(script.text)) return { obstacle: "its script" };
  return readOptions(words, SED);
}

const JQ: ProgramSpec = {
  flags:
    "r c n s S e a j R M C --raw-output --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output " +
    "--join-output --raw-input --monochrome-output --color-output --tab",
  operands: "pattern_and_paths",
};

/** A filter may read further files as modules. */
function readJq(words: readonly Operand[]): ProgramReading {
  const filter = words.find(({ text }) => !/^-./.test(text));
  if (!filter || /\b(?:import|include|modulemeta)\b/.test(filter.text)) return { obstacle: "its filter" };
  return readOptions(words, JQ);
}
