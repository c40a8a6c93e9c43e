import type { ProgramSpec } from "./program-spec.ts";

const GREP: ProgramSpec = {
  flags:
    "E F G P i v w x c l L n H h o q s r R a b T U y Z I --recursive --dereference-recursive --ignore-case --no-ignore-case " +
    "--invert-match --word-regexp --line-regexp --count --color --colour --files-with-matches --files-without-match " +
    "--only-matching --quiet --silent --no-messages --line-number --with-filename --no-filename --null --text " +
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --line-buffered --initial-tab --byte-offset",
  values:
    "m A B C --max-count --after-context --before-context --context --exclude --exclude-dir --include --binary-files --label",
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
const NO_OPERANDS: ProgramSpec = { operands: "none" };
const TEXT: ProgramSpec = { operands: "text" };

/**
 * Programs that only read, each with the options with which that is certain; any other option makes a call ask. Taken
 * from the manuals of GNU coreutils, findutils, grep, diffutils, util-linux and their BSD kin: where these differ, an
 * option is left out. Left out for good: what runs other programs, writes files, opens pagers or connections, or takes
 * its settings from the directory it is run in, as git does. Programs with a language of their own are in
 * `special-programs.ts`.
 */
export const READ_ONLY_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  ls: {
    flags:
      "a A b B c C d f F g G h H i k l m n N o p q Q r R s S t u U v x X Z 1 --all --almost-all --author --classify " +
      "--color --colour --directory --file-type --full-time --group-directories-first --human-readable --inode --literal " +
      "--no-group --numeric-uid-gid --quote-name --recursive --reverse --si --size --sort --time --time-style --escape --format",
    values: "I T w --ignore --hide --width --block-size --indicator-style --quoting-style",
    operands: "paths",
    reads: "names",
  },
  stat: {
    flags: "L t f --dereference --terse --file-system",
    values: "c --format --printf",
    operands: "paths",
    reads: "names",
  },
  file: {
    flags: "b h i k L p 0 --brief --mime --mime-type --mime-encoding --keep-going",
    operands: "paths",
    reads: "names",
  },
  du: {
    flags:
      "a b c h k m s S x --all --apparent-size --bytes --total --human-readable --summarize --one-file-system --si",
    values: "d t B --max-depth --threshold --exclude --block-size",
    operands: "paths",
    reads: "names",
  },
  df: {
    flags: "a h H i k l m P T --all --human-readable --inodes --local --print-type --total",
    operands: "paths",
    reads: "names",
  },
  tree: {
    flags:
      "a d f i p s h u g D F v t c U r x J C n N q Q --dirsfirst --filesfirst --noreport --du --prune --si --inodes --nolinks",
    values: "L I P --filelimit --charset --sort --timefmt",
    operands: "paths",
    reads: "names",
  },
  readlink: {
    flags: "f e m n q s v z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
    operands: "paths",
    reads: "names",
  },
  realpath: {
    flags:
      "e m q s L P z --canonicalize-existing --canonicalize-missing --quiet --strip --no-symlinks --relative-to --relative-base",
    operands: "paths",
    reads: "names",
  },

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
    operands: "paths",
  },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
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
    operands: "paths",
  },
  fold: { flags: "b s --bytes --spaces", values: "w --width", numbers: true, operands: "paths" },
  expand: { flags: "i --initial", values: "t --tabs", operands: "paths" },
  unexpand: { flags: "a --all", values: "t --tabs", operands: "paths" },
  fmt: { flags: "c s t u", values: "w --width", numbers: true, operands: "paths" },
  diff: {
    flags:
      "a b B d i N p q r s t T u w y --text --ignore-space-change --ignore-blank-lines --minimal --ignore-case --new-file " +
      "--show-c-function --brief --recursive --report-identical-files --unified --context --ignore-all-space --side-by-side " +
      "--suppress-common-lines --color --colour --strip-trailing-cr --no-dereference --normal",
    values: "U C W L F I x --label --width --exclude --ignore-matching-lines --tabsize",
    operands: "paths",
    // Two directories are compared file by file without `-r` as well.
    recursive: "always",
    following: "always",
  },
  cmp: { flags: "b l s --print-bytes --verbose --quiet --silent", values: "n --bytes", operands: "paths" },
  od: {
    flags: "a b c d f i l o s v x",
    values: "A j N t w --address-radix --skip-bytes --read-bytes --format",
    operands: "paths",
  },
  hexdump: { flags: "b c C d o v x", values: "e n s", operands: "paths" },
  strings: { flags: "a", values: "n t e --bytes --radix --encoding", numbers: true, operands: "paths" },
  base64: { flags: "d i --decode --ignore-garbage", values: "w --wrap", operands: "paths" },
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
  basename: { flags: "a z --multiple --zero", values: "s --suffix", operands: "text" },
  dirname: { flags: "z --zero", operands: "text" },
  seq: { flags: "w --equal-width", values: "f s --format --separator", numbers: true, operands: "text" },
  expr: TEXT,
  factor: TEXT,
  sleep: TEXT,
  which: { flags: "a --all", operands: "text" },
  // Anything but a format, which begins with a plus, would set the clock.
  date: {
    flags: "u R I --utc --universal --iso-8601 --rfc-3339 --rfc-email",
    values: "d --date",
    operands: "text",
    operandPattern: /^\+/,
  },
  uname: {
    flags: "a s n r v m p i o --all --kernel-name --kernel-release --machine --operating-system",
    operands: "none",
  },
  id: { flags: "u g G n r z --user --group --groups --name --real", operands: "text" },
  groups: TEXT,
  // An operand would set it, and the full name would be looked up in the network.
  hostname: { flags: "s --short", operands: "none" },
  nproc: { flags: "--all", operands: "none" },
  free: { flags: "b k m g h w t --human --mega --giga --total --wide", operands: "none" },
  uptime: { flags: "p s --pretty --since", operands: "none" },
  arch: NO_OPERANDS,
  whoami: NO_OPERANDS,
  logname: NO_OPERANDS,
  tty: { flags: "s --silent", operands: "none" },

  pwd: { flags: "L P", operands: "none", isBuiltin: true },
  true: { ...TEXT, isBuiltin: true },
  false: { ...TEXT, isBuiltin: true },
  ":": { ...TEXT, isBuiltin: true },
  type: { flags: "a f p P t", operands: "text", isBuiltin: true },
};
