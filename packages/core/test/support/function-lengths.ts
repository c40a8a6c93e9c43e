/** A function, a method or a named arrow function of a formatted source, by the line that it begins in. */
export interface MeasuredFunction {
  line: number;
  name: string;
  lines: number;
}

// The formatter puts the end of a body at the indent of its beginning, so that lines can be read without a parser.
const BEGINNING =
  /^(\s*)(?:export )?(?:default )?(?:(?:private|protected|public|static|override|async|get|set) )*(?:function\*? |const (?=\w+ = (?:async )?\())?([*#]?\w+)(?:<[^()]*>)?(?: = (?:async )?)?\(/;
const STATEMENT = /^\s*(?:if|for|while|switch|return|await|throw|catch|else|super|do|yield)\b/;

export function measureFunctions(source: string): MeasuredFunction[] {
  const lines = source.split("\n");
  return lines.flatMap((text, start) => {
    const [, indent = "", name] = BEGINNING.exec(text) ?? [];
    if (name === undefined || STATEMENT.test(text)) return [];
    const head = /\((?:[{[])?$|<$/.test(text) ? findAtIndent(lines, start, indent) : start;
    if (!lines[head]?.endsWith("{")) return [];
    const end = findAtIndent(lines, head, indent);
    return end < 0 ? [] : [{ line: start + 1, name, lines: end - start + 1 }];
  });
}

/** The next line that begins in the column of an earlier one. */
function findAtIndent(lines: readonly string[], start: number, indent: string): number {
  return lines.findIndex(
    (line, index) => index > start && line.startsWith(indent) && /^\S/.test(line.slice(indent.length)),
  );
}
