import type { Diagnostic } from "./messages.ts";
import { toLineAndColumn } from "./messages.ts";

/** An error in a file; line and column count from 1. */
export interface Problem {
  line: number;
  column: number;
  /** On one line. */
  message: string;
  /** Such as `ts2322`; empty if the server gives none. */
  code: string;
  /** The text of its line without white space around it: errors move when lines are added above them. */
  lineText: string;
}

const ERROR = 1;
const MAX_MESSAGE_CHARACTERS = 300;

/** The errors among the diagnostics of a text, in the order of their places. */
export function toProblems(diagnostics: readonly Diagnostic[], text: string): Problem[] {
  const lines = text.split("\n");
  return diagnostics
    .filter(({ severity = ERROR }) => severity === ERROR)
    .map(({ range, message, code, source }) => {
      const place = toLineAndColumn(range.start);
      const name = code === undefined ? "" : String(code);
      return {
        ...place,
        message: toPlainLine(message),
        code: toPlainLine(source === "ts" || source === "typescript" ? `ts${name}` : name),
        lineText: (lines[place.line - 1] ?? "").trim(),
      };
    })
    .sort((left, right) => left.line - right.line || left.column - right.column);
}

/** On one line, without control characters; the text is another program's. */
function toPlainLine(text: string): string {
  const plain = text
    .slice(0, 4 * MAX_MESSAGE_CHARACTERS)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return plain.length > MAX_MESSAGE_CHARACTERS
    ? `${plain.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}…`
    : plain;
}

/** Which errors were there before, and which are new. */
interface ComparedProblems {
  kept: Problem[];
  added: Problem[];
}

/** Compares by message and line, then by message: an error on an edited line is still the same one. */
export function compareProblems(known: readonly Problem[], now: readonly Problem[]): ComparedProblems {
  const left = [...known];
  const take = (isSame: (other: Problem) => boolean) => {
    const index = left.findIndex(isSame);
    if (index === -1) return false;
    left.splice(index, 1);
    return true;
  };
  const isMessage = (one: Problem) => (other: Problem) =>
    one.message === other.message && one.code === other.code;
  const exact = new Set(
    now.filter((each) => take((other) => isMessage(each)(other) && each.lineText === other.lineText)),
  );
  const rest = now.filter((each) => !exact.has(each));
  const moved = new Set(rest.filter((each) => take(isMessage(each))));
  return {
    kept: now.filter((each) => exact.has(each) || moved.has(each)),
    added: rest.filter((each) => !moved.has(each)),
  };
}
