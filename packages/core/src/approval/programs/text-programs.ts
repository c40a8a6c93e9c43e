import type { ProgramSpec } from "./program-spec.ts";

// Where it is left to BSD, `--context` has a value only behind `=`.
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

/** Programs that print what files hold, as they are or made into something else. */
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
  // A second operand is the file it writes to.
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
    // Two directories are compared file by file without `-r` as well.
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
  // Not `-i`, behind which a Mac expects a file.
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
