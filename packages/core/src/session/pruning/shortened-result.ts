import type { ToolResultMessage } from "../../types.ts";

/** What a model reads in place of a result that was cleared. */
export const CLEARED_OUTPUT = "[Tool output cleared — content was processed in earlier turns]";

/** Characters kept of a trimmed result. */
export interface TrimSizes {
  head: number;
  tail: number;
}

/**
 * A long output as its beginning and its end, with a line between them that says so. Undefined when that would not be
 * shorter. No character is torn in two.
 */
export function trimOutput(output: string, sizes: TrimSizes): string | undefined {
  if (sizes.head + sizes.tail >= output.length) return undefined;
  const head = output.slice(0, isInsideCharacter(output, sizes.head) ? sizes.head - 1 : sizes.head);
  const tailStart = output.length - sizes.tail;
  const tail = output.slice(isInsideCharacter(output, tailStart) ? tailStart + 1 : tailStart);
  const marker = `--- trimmed (kept ${head.length} head + ${tail.length} tail of ${output.length} chars) ---`;
  const trimmed = `${head}\n${marker}\n${tail}`;
  return trimmed.length < output.length ? trimmed : undefined;
}

// A conversation is put together before every request: what is the same then should be the same object.
const shortened = new WeakMap<ToolResultMessage, ToolResultMessage>();

/** The result with another output; asked again for the same, it gives the same object. */
export function withOutput(result: ToolResultMessage, output: string): ToolResultMessage {
  const before = shortened.get(result);
  if (before?.output === output) return before;
  const copy = { ...result, output };
  shortened.set(result, copy);
  return copy;
}

/** True when `position` lies between the two halves of a character. */
function isInsideCharacter(text: string, position: number): boolean {
  return (
    isBetween(text.charCodeAt(position - 1), 0xd800, 0xdbff) &&
    isBetween(text.charCodeAt(position), 0xdc00, 0xdfff)
  );
}

function isBetween(unit: number, first: number, last: number): boolean {
  return unit >= first && unit <= last;
}
