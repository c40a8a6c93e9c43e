/** Turns an indentation of the model's into the file's; undefined where that would be a guess. */
export type Reindent = (indent: string) => string | undefined;

/** The indentation of one line: as the model gave it, and as it is in the file. */
export interface IndentPair {
  given: string;
  inFile: string;
}

/**
 * The rule by which a file's indentation follows from the one the model gave, learned from the lines that match.
 * Undefined when no one rule fits all of them.
 */
export function deriveReindent(pairs: readonly IndentPair[]): Reindent | undefined {
  if (pairs.every(({ given, inFile }) => given === inFile)) return (indent) => indent;
  return deriveOffset(pairs) ?? deriveTabs(pairs);
}

/** The same white space in front of every line, either in the file or in what the model gave. */
function deriveOffset(pairs: readonly IndentPair[]): Reindent | undefined {
  const [first] = pairs;
  if (!first) return undefined;
  const isDeeper = first.inFile.length > first.given.length;
  const [longer, shorter] = isDeeper ? [first.inFile, first.given] : [first.given, first.inFile];
  if (!longer.endsWith(shorter)) return undefined;
  const prefix = longer.slice(0, longer.length - shorter.length);
  const apply = isDeeper
    ? (indent: string) => prefix + indent
    : (indent: string) => (indent.startsWith(prefix) ? indent.slice(prefix.length) : undefined);
  if (!pairs.every(({ given, inFile }) => apply(given) === inFile)) return undefined;
  // One depth alone may as well mean that the file's steps are wider: then only that depth is known.
  const isProven = shorter === "" || pairs.some(({ given }) => given !== first.given);
  return isProven ? apply : (indent) => (indent === first.given ? first.inFile : undefined);
}

/** Tabs in the file for a fixed number of spaces, or the other way round. */
function deriveTabs(pairs: readonly IndentPair[]): Reindent | undefined {
  const indented = pairs.find(({ given, inFile }) => given !== "" && inFile !== "");
  if (!indented) return undefined;
  const { given, inFile } = indented;
  const [tabs, spaces] = isAll("\t", inFile) ? [inFile, given] : [given, inFile];
  const width = spaces.length / tabs.length;
  if (!isAll("\t", tabs) || !isAll(" ", spaces) || !Number.isInteger(width) || width < 2) return undefined;
  const apply: Reindent =
    tabs === inFile
      ? (indent) =>
          isAll(" ", indent) && indent.length % width === 0 ? "\t".repeat(indent.length / width) : undefined
      : (indent) => (isAll("\t", indent) ? " ".repeat(indent.length * width) : undefined);
  return pairs.every((pair) => apply(pair.given) === pair.inFile) ? apply : undefined;
}

function isAll(character: string, text: string): boolean {
  return text === character.repeat(text.length);
}
