import { parseText, type TextNode } from "./document.ts";
import { appendChild, removeChild } from "./jsonc-edit.ts";

interface Member {
  /** The object that contains it. */
  container: TextNode;
  index: number;
  value: TextNode;
}

/**
 * Sets a member of a JSONC text, whose objects are created as far as they are missing; comments elsewhere stay.
 * @param value JSON data.
 */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  let container = rootOf(text);
  for (const [depth, name] of path.entries()) {
    if (container === undefined) return text;
    const member = findMember(container, name);
    if (member === undefined) {
      const [, ...rest] = path.slice(depth);
      const inner = rest.reduceRight<unknown>((nested, each) => ({ [each]: nested }), value);
      return appendChild(text, container, ({ indent, unit, lineEnd }) => {
        const written = indent === undefined ? toLine(inner) : toLines(inner, { indent, unit, lineEnd });
        return `${JSON.stringify(name)}: ${written}`;
      });
    }
    if (depth === path.length - 1) {
      const { offset, length } = member.value;
      return text.slice(0, offset) + toLine(value) + text.slice(offset + length);
    }
    container = member.value;
  }
  return text;
}

/** Removes a member of a JSONC text; the same text without it. */
export function removeMember(text: string, path: readonly string[]): string {
  let container = rootOf(text);
  let member: Member | undefined;
  for (const name of path) {
    member = container && findMember(container, name);
    container = member?.value;
  }
  return member ? removeChild(text, member.container, member.index) : text;
}

// What is longer than this is written on several lines.
const MAX_LINE_CHARS = 80;

function toLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toLine).join(", ")}]`;
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${toLine(inner)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function toLines(value: unknown, layout: { indent: string; unit: string; lineEnd: string }): string {
  const line = toLine(value);
  if (line.length <= MAX_LINE_CHARS || typeof value !== "object" || value === null) return line;
  return JSON.stringify(value, undefined, layout.unit).replaceAll("\n", layout.lineEnd + layout.indent);
}

/** If a name is set twice, the last one, which is the one that applies. */
function findMember(container: TextNode, name: string): Member | undefined {
  const { children = [] } = container;
  const index = children.findLastIndex((child) => child.children?.[0]?.value === name);
  const value = children[index]?.children?.[1];
  return value && { container, index, value };
}

function rootOf(text: string): TextNode | undefined {
  const parsed = parseText(text);
  return "root" in parsed ? parsed.root : undefined;
}
