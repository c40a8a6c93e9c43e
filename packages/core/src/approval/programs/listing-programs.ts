import type { ProgramSpec } from "./program-spec.ts";

/** Programs that show what is there: names, sizes, kinds. */
export const LISTING_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  // Not `-L`, which looks behind every link it finds.
  ls: {
    flags:
      "a A b B c C d f F g G h H i k l m n N o p q Q r R s S t u U v x X Z 1 --all --almost-all --author --classify " +
      "--color --colour --directory --file-type --full-time --group-directories-first --human-readable --inode --literal " +
      "--no-group --numeric-uid-gid --quote-name --recursive --reverse --si --size --escape",
    values:
      "--sort --time --time-style --format --ignore --hide --width --block-size --indicator-style --quoting-style",
    widths: "--width",
    operands: "paths",
    reads: "names",
  },
  stat: {
    flags: "L t f --dereference --terse --file-system",
    values: "c --format --printf",
    widths: "c --format --printf",
    operands: "paths",
    reads: "names",
  },
  file: {
    flags: "b h i k L 0 --brief --mime --mime-type --mime-encoding --keep-going",
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
  // Not `-R` and `-o`, which write, and not `-l`, which follows links.
  tree: {
    flags:
      "a d f i p s h u g D F v t c U r x J C n N q Q --dirsfirst --filesfirst --noreport --du --prune --si --inodes --nolinks",
    values: "L I P --filelimit --charset --sort --timefmt",
    widths: "--timefmt",
    valuesApart: true,
    operands: "paths",
    reads: "names",
  },
  readlink: {
    flags: "f e m n q s v z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
    operands: "paths",
    reads: "names",
  },
  realpath: {
    flags: "e m q s L P z --canonicalize-existing --canonicalize-missing --quiet --strip --no-symlinks",
    pathValues: "--relative-to --relative-base",
    operands: "paths",
    reads: "names",
  },
};
