import { showWord } from "../show-word.ts";
import type { Operand } from "./program-options.ts";
import { namesOnly, type ProgramReading } from "./program-spec.ts";

const toSet = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Tests and actions that only look and print, without a value. */
const FLAGS = toSet(
  "-empty -depth -print -print0 -ls -prune -quit -not ! ( ) -o -or -a -and , -nouser -nogroup -readable -writable " +
    "-executable -mount -xdev -true -false -daystart -noleaf -warn -nowarn -P",
);

/** The same with one value. */
const VALUES = toSet(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -size -mtime -mmin -atime -amin " +
    "-ctime -cmin -maxdepth -mindepth -printf -perm -user -group -uid -gid -links -inum -lname -ilname -fstype -used",
);

/** The same with a file to compare with. */
const PATH_VALUES = toSet("-newer -anewer -cnewer -samefile");

/** The same with a date, in which a time zone may be a file. */
const DATE_VALUE = /^-newer[aBcm]t$/;

/**
 * Where a `find` looks, provided that its expression neither runs, writes nor deletes anything and follows no links.
 * Whatever is not known to be harmless is taken for harmful, so that `-exec` and its kin need no list of their own.
 */
export function readFindExpression(words: readonly Operand[]): ProgramReading {
  const paths: string[] = [];
  const rest = [...words];
  let isExpression = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { text, names } = word;
    if (names !== undefined && isExpression)
      return { obstacle: `the file names that ${showWord(text)} stands for` };
    if (names !== undefined) paths.push(...names);
    else if (FLAGS.has(text)) isExpression ||= text !== "-P";
    else if (VALUES.has(text) || PATH_VALUES.has(text) || DATE_VALUE.test(text)) {
      isExpression = true;
      const value = rest.shift();
      if (!value || value.names !== undefined || isStrangeValue(text, value.text)) {
        return { obstacle: `what follows ${showWord(text)}` };
      }
      if (PATH_VALUES.has(text)) paths.push(value.text);
    } else if (isExpression || text.startsWith("-")) return { obstacle: showWord(text) };
    else paths.push(text);
  }
  return namesOnly(paths);
}

/** A width of many digits prints as many spaces for every file. */
function isStrangeValue(test: string, value: string): boolean {
  return test === "-printf" ? /\d{5}/.test(value) : DATE_VALUE.test(test) && /^-|[="]/.test(value);
}
