import { showWord } from "./parse.ts";
import {
  namesOnly,
  type Operand,
  type ProgramReading,
  type ProgramSpec,
  readOptions,
  toUse,
} from "./program-spec.ts";

// In the BSD version, `--context` has a value only after `=`.
const GREP: ProgramSpec = {
  flags:
    "E F G P i v w x c l L n H h o q s r R a b T U y Z I --recursive --dereference-recursive --ignore-case --no-ignore-case " +
    "--invert-match --word-regexp --line-regexp --count --color --colour --files-with-matches --files-without-match " +
    "--only-matching --quiet --silent --no-messages --line-number --with-filename --no-filename --null --text " +
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --line-buffered --initial-tab --byte-offset",
  optionalValues: "--context",
  values:
    "m A B C --max-count --after-context --before-context --include --exclude --exclude-dir --binary-files --label",
  nameFilters: { "--include": "include", "--exclude": "exclude", "--exclude-from": "exclude" },
  pathValues: "f --file --exclude-from",
  patternValues: "e --regexp f --file",
  numbers: true,
  operands: "pattern_and_paths",
  recursive: "r R --recursive --dereference-recursive",
  following: "R --dereference-recursive",
};

const CHECKSUM: ProgramSpec = {
  flags: "b t z --binary --text --tag --zero",
  values: "a --algorithm",
  operands: "paths",
};

/** Programs that print the contents of files, unchanged or transformed. */
export const TEXT_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  cat: {
    flags:
      "A b e E n s t T u v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
    operands: "paths",
  },
  tac: { values: "s --separator", operands: "paths" },
  rev: { operands: "paths" },
  head: {
    flags: "q v z --quiet --silent --verbose",
    values: "n c --lines --bytes",
    numbers: true,
    operands: "paths",
  },
  tail: {
    flags: "q v z r --quiet --silent --verbose",
    values: "n c --lines --bytes",
    numbers: true,
    operands: "paths",
  },
  wc: { flags: "c l m w L --bytes --chars --lines --words --max-line-length", operands: "paths" },
  nl: {
    flags: "p",
    values: "b d f h i l n s v w --body-numbering --number-width --number-format",
    widths: "w --number-width",
    operands: "paths",
  },
  grep: GREP,
  egrep: { ...GREP, runs: "grep" },
  fgrep: { ...GREP, runs: "grep" },
  cut: {
    flags: "n s z --complement --only-delimited",
    values: "b c d f --bytes --characters --delimiter --fields --output-delimiter",
    operands: "paths",
  },
  sort: {
    flags:
      "b d f g h i M n r R s u V c C m z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort " +
      "--human-numeric-sort --month-sort --numeric-sort --reverse --stable --unique --version-sort --check --merge",
    values: "k t --key --field-separator",
    operands: "paths",
  },
  // A second operand is the file that `uniq` writes to.
  uniq: {
    flags: "c d u i z --count --repeated --unique --ignore-case",
    values: "f s w --skip-fields --skip-chars --check-chars",
    operands: "paths",
    maxOperands: 1,
  },
  comm: {
    flags: "1 2 3 i z --check-order --nocheck-order --total",
    values: "--output-delimiter",
    operands: "paths",
  },
  join: { flags: "i z --header", values: "a e j o t v 1 2", operands: "paths" },
  paste: { flags: "s z --serial", values: "d --delimiters", operands: "paths" },
  column: {
    flags: "t x e --table --fillrows",
    values: "s c o --separator --output-separator --output-width",
    widths: "c --output-width",
    operands: "paths",
  },
  fold: { flags: "b s --bytes --spaces", values: "w --width", numbers: true, operands: "paths" },
  expand: { flags: "i --initial", values: "t --tabs", widths: "t --tabs", operands: "paths" },
  unexpand: { flags: "a --all", values: "t --tabs", operands: "paths" },
  fmt: { flags: "c s t u", values: "w --width", numbers: true, operands: "paths" },
  diff: {
    flags:
      "a b B d i N p q r s t T u w y --text --ignore-space-change --ignore-blank-lines --minimal --ignore-case --new-file " +
      "--show-c-function --brief --recursive --report-identical-files --ignore-all-space --side-by-side " +
      "--suppress-common-lines --color --colour --strip-trailing-cr --no-dereference --normal",
    optionalValues: "--unified --context",
    values: "U C W L F I x --label --width --exclude --ignore-matching-lines --tabsize",
    widths: "W --width --tabsize",
    operands: "paths",
    // `diff` compares two directories file by file even without `-r`.
    recursive: "always",
    following: "always",
  },
  cmp: { flags: "b l s --print-bytes --verbose --quiet --silent", values: "n --bytes", operands: "paths" },
  od: {
    flags: "a b c d f i l o s v x",
    optionalValues: "w --width",
    widths: "w --width",
    values: "A j N t --address-radix --skip-bytes --read-bytes --format",
    operands: "paths",
  },
  hexdump: { flags: "b c C d o v x", values: "e n s", widths: "e", operands: "paths" },
  strings: {
    flags: "a",
    values: "n t e --bytes --radix --encoding",
    numbers: true,
    responseFiles: true,
    operands: "paths",
  },
  // Not `-i`, which takes a file on macOS.
  base64: { flags: "d --decode --ignore-garbage", values: "w --wrap", operands: "paths" },
  cksum: CHECKSUM,
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  shasum: CHECKSUM,
  b2sum: CHECKSUM,
  tr: { flags: "c C d s t --complement --delete --squeeze-repeats --truncate-set1", operands: "text" },
};

const JQ: ProgramSpec = {
  flags:
    "r c n s S e a j R M C --raw-output --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output " +
    "--join-output --raw-input --monochrome-output --color-output --tab",
  operands: "pattern_and_paths",
};

// Reading further files as modules, reading the environment, and loops that may not end or grow without bound.
const UNSURE =
  /\b(?:import|include|modulemeta|get_search_list|env|def|repeat|range|while|until|recurse|limit|reduce|foreach|combinations|input|inputs|infinite|debug|stderr|input_filename)\b|\$(?:ENV|__prog)|\*|\d{5}/;

/** Reads a call of jq. A filter that may read more than its operands, or may not end soon, is unsupported. */
export function readJq(words: readonly Operand[]): ProgramReading {
  const read = readOptions(words, JQ);
  if ("unsupported" in read) return read;
  const [filter] = read.patterns;
  return filter === undefined || UNSURE.test(filter) ? { unsupported: "its filter" } : toUse(read, JQ);
}

// Only conversions that print their argument, at most 999 characters wide. `%n` sets a variable, `%*d` takes its width
// from an argument, `%(…)T` has a format language of its own.
const CONVERSION = String.raw`%(?:%|[-+ 0#]*\d{0,3}(?:\.\d{0,3})?[diouxXeEfFgGaAcsbq])`;
const ESCAPE = String.raw`\\(?:[abefnrtv\\"']|033|x1[bB])`;
const FORMAT = new RegExp(`^(?:[^%\\\\]|${CONVERSION}|${ESCAPE})*$`);
const NUMBER = /%[-+ 0#]*[\d.]*[diouxXeEfFgGaAc]/;

/** Some shells evaluate a number as an expression, in which an index may run a command. */
const EXPRESSION = /[[\]$`(){}]/;

/**
 * Reads a call of printf, whose format must be understood completely. Its only option writes into a variable, whose
 * index may run a command.
 */
export function readPrintf(words: readonly Operand[]): ProgramReading {
  const [format, ...rest] = words[0]?.text === "--" ? words.slice(1) : words;
  if (!format || format.names !== undefined) return { unsupported: "its format" };
  if (format.text.startsWith("-") && words[0] === format)
    return { unsupported: `the option ${showWord(format.text)}` };
  if (!FORMAT.test(format.text)) return { unsupported: "its format" };
  const invalid = NUMBER.test(format.text) && rest.find(({ text }) => EXPRESSION.test(text));
  if (invalid) return { unsupported: showWord(invalid.text) };
  return namesOnly(rest.flatMap(({ names }) => names ?? []));
}

const SED: ProgramSpec = {
  flags: "n E r s u --quiet --silent --regexp-extended --separate --unbuffered",
  patternValues: "e --expression",
  operands: "pattern_and_paths",
};

// Excludes the letter after which GNU sed expects a control character, which may hide the text that follows it.
const between = (delimiter: string) =>
  String.raw`(?:[^${delimiter}\\\n[\]]|\\[^\nc]|\[\^?[^\]${delimiter}\\\n[]+\])*`;
const REGEX = between("/");
const ADDRESS = String.raw`(?:\d+~\d+|\d+|\$|/${REGEX}/)`;
const RANGE = String.raw`${ADDRESS}(?:,\s*(?:[+~]?\d+|${ADDRESS}))?`;
// Not `w`, which writes a file, and not `e`, which runs the result.
const SUBSTITUTION = ["/", "|", "#", ",", ":", "@", "%", "!", "_"]
  .map((delimiter) => {
    const escaped = delimiter === "|" ? "\\|" : delimiter;
    return String.raw`s${escaped}${between(delimiter)}${escaped}${between(delimiter)}${escaped}[gpiI\d]*`;
  })
  .join("|");
const COMMAND = String.raw`(?:${RANGE})?\s*!?\s*(?:[pd=]|q|${SUBSTITUTION})`;
const COMMANDS = String.raw`${COMMAND}(?:\s*;\s*${COMMAND})*`;
const SCRIPT = new RegExp(String.raw`^\s*${COMMANDS}\s*;?\s*$`);
// Inserted text extends to the end of the script: there is no command after it.
const INSERTION = String.raw`(?:${RANGE})?\s*!?\s*[aic](?:\s+|\\\s*)[^\\\n]*`;
const INSERTING_SCRIPT = new RegExp(String.raw`^\s*(?:${COMMANDS}\s*;\s*)?${INSERTION}$`);
const MAX_SCRIPT_CHARS = 200;

/**
 * Reads a call of sed, which must only print, delete and replace on the way to stdout; other commands write files and
 * run programs.
 */
export function readSed(words: readonly Operand[]): ProgramReading {
  const read = readOptions(words, SED);
  if ("unsupported" in read) return read;
  const { patterns } = read;
  const isKnown = (script: string) => isPlainScript(script, { mayInsert: false });
  return patterns.length > 0 && patterns.every(isKnown) ? toUse(read, SED) : { unsupported: "its script" };
}

/**
 * True for a script that prints, deletes and replaces, and inserts text if `mayInsert`: it runs nothing and names no
 * file.
 */
export function isPlainScript(script: string, { mayInsert }: { mayInsert: boolean }): boolean {
  if (script.length > MAX_SCRIPT_CHARS) return false;
  return SCRIPT.test(script) || (mayInsert && INSERTING_SCRIPT.test(script));
}

/** Reads a call of seq. Whole numbers of at most six digits limit its output to a million lines. */
export function readSeq(words: readonly Operand[]): ProgramReading {
  const rest = [...words];
  for (let word = rest[0]; word && /^-\D/.test(word.text); word = rest[0]) {
    rest.shift();
    if (word.text === "-w" || word.text === "--equal-width") continue;
    if (word.text !== "-s" || rest.shift()?.names !== undefined)
      return { unsupported: `the option ${showWord(word.text)}` };
  }
  const invalid = rest.find(({ text, names }) => names !== undefined || !/^-?\d{1,6}$/.test(text));
  if (invalid || rest.length === 0 || rest.length > 3)
    return { unsupported: invalid ? showWord(invalid.text) : "its numbers" };
  return namesOnly([]);
}

const split = (list: string): string[] => list.split(" ");

const COMPARISONS: ReadonlySet<string> = new Set(split("-eq -ne -lt -le -gt -ge"));

// Not `-v` and `-R`: the index of a variable is evaluated and may run a command.
const TESTS: ReadonlySet<string> = new Set([
  ...split("-e -f -d -r -w -x -s -h -L -z -n -S -p -b -c -k -u -g -O -G -N"),
  ...split("= == != < > -nt -ot -ef ! -a -o ( )"),
  ...COMPARISONS,
]);

/** Reads a call of `test`, which must not evaluate an expression. */
export function readTest(words: readonly Operand[]): ProgramReading {
  const operands = words.filter(({ text }) => !TESTS.has(text));
  const comparesNumbers = words.some(({ text }) => COMPARISONS.has(text));
  const isInvalid = ({ text, names }: Operand) =>
    names !== undefined || /^-(?!\d+$)/.test(text) || (comparesNumbers && EXPRESSION.test(text));
  const invalid = operands.find(isInvalid);
  if (invalid) return { unsupported: showWord(invalid.text) };
  return namesOnly(operands.map(({ text }) => text));
}

/** Reads a call of `[`, which is `test` with a closing bracket. */
export function readBracket(words: readonly Operand[]): ProgramReading {
  return words.at(-1)?.text === "]" ? readTest(words.slice(0, -1)) : { unsupported: "a missing closing ]" };
}

// xxd only reads the second letter of a word, so only whole words are certain. It reads no options after the first file:
// the next word is the file that it writes to.
const FLAGS: ReadonlySet<string> = new Set(["-a", "-b", "-e", "-E", "-i", "-p", "-ps", "-u"]);
const VALUE = /^-[cglos]$/;
const ATTACHED_VALUE = /^-[cglos]\d{1,6}$/;
const XXD_NUMBER = /^[-+]?(?:\d{1,8}|0x[\da-fA-F]{1,8})$/;

/** Reads a call of xxd that dumps one file; it writes to a second operand, and with `-r` to the first. */
export function readXxd(words: readonly Operand[]): ProgramReading {
  const rest = [...words];
  const paths: string[] = [];
  for (let word = rest.shift(); word; word = rest.shift()) {
    const { text, names } = word;
    if (names !== undefined) return { unsupported: `the file names that ${showWord(text)} stands for` };
    if (paths.length > 0) return { unsupported: "a further operand" };
    if (FLAGS.has(text) || ATTACHED_VALUE.test(text)) continue;
    if (VALUE.test(text)) {
      if (!XXD_NUMBER.test(rest.shift()?.text ?? ""))
        return { unsupported: `what follows the option ${showWord(text)}` };
    } else if (text.startsWith("-")) return { unsupported: `the option ${showWord(text)}` };
    else paths.push(text);
  }
  return { use: { paths, readsContent: true } };
}
