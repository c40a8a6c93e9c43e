// What editors and models put in place of the plain characters. Each is one UTF-16 unit and stands for one.
const PLAIN: readonly [RegExp, string][] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
];

/** Plain quotes, dashes and spaces for typographic ones; every character stays at its place. */
export function toPlainText(text: string): string {
  return PLAIN.reduce((plain, [pattern, replacement]) => plain.replace(pattern, replacement), text);
}

/** A line in three; joined in this order they are the line. */
export interface LineParts {
  indent: string;
  body: string;
  tail: string;
}

/** A line as its indentation, its text and its trailing white space. A blank line is all indentation. */
export function splitLineParts(line: string): LineParts {
  const body = line.trim();
  const indent = line.slice(0, line.length - line.trimStart().length);
  return { indent, body, tail: line.slice(indent.length + body.length) };
}
