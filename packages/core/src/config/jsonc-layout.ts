import { applyEdits, createScanner, type Edit } from "jsonc-parser";
import type { TextNode } from "./parse-text.ts";

// Kinds of tokens as the scanner counts them; its enumeration exists only for the compiler.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const END = 17;

const DEFAULT_UNIT = "  ";

/** Text for one more child; `indent` is that of its own line, undefined where it stands on a line with others. */
export type ChildText = (layout: { indent: string | undefined; unit: string; lineEnd: string }) => string;

/**
 * A JSONC text with one more child at the end of a list or object. Nothing else changes but for a comma in front of it:
 * comments stay behind what they stood behind.
 */
export function appendChild(text: string, container: TextNode, child: ChildText): string {
  const { children = [] } = container;
  const [first, last] = [children[0], children.at(-1)];
  const close = endOf(container) - 1;
  const from = last ? endOf(last) : container.offset + 1;
  const gap = readGap(text, from, close);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const outer = indentAt(text, container.offset);
  const isOnOwnLine =
    first === undefined || gap.endsInLine || text.slice(container.offset, first.offset).includes("\n");
  const indent = first && isOnOwnLine ? indentAt(text, first.offset) : outer + findUnit(text);
  const written = child({ indent: isOnOwnLine ? indent : undefined, unit: findUnit(text), lineEnd });
  const lead = isOnOwnLine ? lineEnd + indent : " ";
  const comma = gap.comma === undefined ? "" : ",";
  const needsEnd = isOnOwnLine && !text.slice(gap.end, close).includes("\n");
  const insertion = lead + written + comma + (needsEnd ? lineEnd + outer : "");
  const edits = [{ offset: gap.end, length: 0, content: insertion }];
  if (last && gap.comma === undefined) edits.unshift({ offset: from, length: 0, content: "," });
  return applyEdits(text, edits);
}

/** A JSONC text without one child of a list or object. Comments stay, those on its own lines too. */
export function removeChild(text: string, container: TextNode, index: number): string {
  const { children = [] } = container;
  const child = children[index];
  if (!child) return text;
  const [before, next] = [children[index - 1], children[index + 1]];
  const ownComma = readGap(text, endOf(child), next?.offset ?? endOf(container) - 1).comma;
  const comma = ownComma ?? (before && readGap(text, endOf(before), child.offset).comma);
  const edits: Edit[] = [cutOf(text, child, ownComma)];
  const isCut =
    comma !== undefined && edits.every((cut) => comma < cut.offset || comma >= cut.offset + cut.length);
  if (isCut) edits.push({ offset: comma, length: 1, content: "" });
  return applyEdits(text, edits);
}

/** The child with its lines where nothing else stands on them, else with the blanks beside it. */
function cutOf(text: string, child: TextNode, ownComma: number | undefined): Edit {
  const lineStart = text.lastIndexOf("\n", child.offset - 1) + 1;
  const isCommaNext = ownComma !== undefined && text.slice(endOf(child), ownComma).trim() === "";
  const end = isCommaNext ? ownComma + 1 : endOf(child);
  const blanks = /^[ \t]*(\r?\n)?/.exec(text.slice(end));
  const isFirst = text.slice(lineStart, child.offset).trim() === "";
  const isAlone = isFirst && blanks?.[1] !== undefined;
  const after = end + (blanks?.[0].length ?? 0);
  if (isAlone) return { offset: lineStart, length: after - lineStart, content: "" };
  if (ownComma !== undefined || isFirst) {
    const stop = blanks?.[1] === undefined ? after : end;
    return { offset: child.offset, length: stop - child.offset, content: "" };
  }
  const start = lineStart + text.slice(lineStart, child.offset).trimEnd().length;
  return { offset: start, length: end - start, content: "" };
}

interface Gap {
  /** Where the comma stands, if there is one. */
  comma: number | undefined;
  /** Behind the last comment or comma. */
  end: number;
  /** The last thing in it is a comment that ends with its line. */
  endsInLine: boolean;
}

/** What stands between two children, or a child and the closing bracket. */
function readGap(text: string, from: number, to: number): Gap {
  const scanner = createScanner(text.slice(0, to), false);
  scanner.setPosition(from);
  const gap: Gap = { comma: undefined, end: from, endsInLine: false };
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (token !== COMMA && token !== LINE_COMMENT && token !== BLOCK_COMMENT) continue;
    if (token === COMMA) gap.comma = scanner.getTokenOffset();
    gap.end = scanner.getTokenOffset() + scanner.getTokenLength();
    gap.endsInLine = token === LINE_COMMENT;
  }
  return gap;
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? "";
}

/** How far a step is indented: as the first line that is. */
function findUnit(text: string): string {
  return /^(?:\t| +)(?=\S)/m.exec(text)?.[0] ?? DEFAULT_UNIT;
}

function endOf({ offset, length }: TextNode): number {
  return offset + length;
}
