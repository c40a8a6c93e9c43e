/**
 * The words of a command line such as `code -w` or `"/opt/my editor" --wait`: quotes and backslashes as in a shell,
 * nothing else of it. Undefined where a quote is left open, and without a word.
 */
export function readCommandWords(line: string): string[] | undefined {
  const words = line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+|\S/gs);
  const read = Array.from(words, ([word]) => ({ word, value: unquote(word) }));
  if (read.length === 0 || read.some(({ word }) => /^["'\\]$/.test(word))) return undefined;
  return read.map(({ value }) => value);
}

function unquote(word: string): string {
  return word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_, escaped, double, single) => {
    if (typeof escaped === "string") return escaped;
    if (typeof double === "string") return double.replace(/\\(["\\$`])/g, "$1");
    return typeof single === "string" ? single : "";
  });
}
