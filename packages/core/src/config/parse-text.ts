import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** A node of a syntax tree without faults. */
export type TextNode = Node;

/** `offset` is in UTF-16 units from the text's beginning; `message` does not name the place. */
export interface TextFault {
  offset: number;
  message: string;
}

/** Deeper than any setting; the parser recurses, and a text of nothing but brackets would break it. */
const MAX_DEPTH = 32;

const FAULTS: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is no JSON; names and texts stand in double quotes",
  InvalidNumberFormat: "this is no number",
  PropertyNameExpected: "a name in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected",
  CommaExpected: "a comma is expected",
  CloseBraceExpected: "the closing } is missing",
  CloseBracketExpected: "the closing ] is missing",
  EndOfFileExpected: "nothing more is expected here",
  InvalidCommentToken: "this comment is not allowed",
  UnexpectedEndOfComment: "this comment has no end",
  UnexpectedEndOfString: "this text has no closing double quote",
  UnexpectedEndOfNumber: "this number breaks off",
  InvalidUnicode: "this text holds a \\u without four hexadecimal digits",
  InvalidEscapeCharacter: "this text holds a \\ that begins no known escape",
  InvalidCharacter: "this text holds a control character",
};

/**
 * The syntax tree of a JSONC text, comments and trailing commas allowed, whose root is an object; or its first fault.
 * Later faults are mostly consequences of the first, so they are not told.
 */
export function parseText(text: string): { root: TextNode } | { fault: TextFault } {
  const depth = findTooDeep(text);
  if (depth !== undefined)
    return { fault: { offset: depth, message: `nested deeper than ${MAX_DEPTH} levels` } };
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const first = errors.toSorted((left, right) => left.offset - right.offset)[0];
  if (first) return { fault: { offset: first.offset, message: describeFault(first) } };
  if (root === undefined)
    return {
      fault: { offset: 0, message: "the file is empty; {} would be a configuration without settings" },
    };
  if (root.type !== "object")
    return { fault: { offset: root.offset, message: "an object in { } is expected" } };
  return { root };
}

function describeFault({ error }: ParseError): string {
  return FAULTS[printParseErrorCode(error)] ?? "this is no JSON";
}

// The kinds of brackets as the scanner counts them; its enumeration exists only for the compiler.
const OPENING: ReadonlySet<number> = new Set([1, 3]);
const CLOSING: ReadonlySet<number> = new Set([2, 4]);
const END = 17;

function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (OPENING.has(token)) depth++;
    else if (CLOSING.has(token)) depth--;
    if (depth > MAX_DEPTH) return scanner.getTokenOffset();
  }
  return undefined;
}
