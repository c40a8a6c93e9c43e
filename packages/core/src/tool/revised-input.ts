import { isDeepStrictEqual } from "node:util";

// A command of a person's is rarely longer; the model wrote most of a longer one itself.
const MAX_SHOWN_CHARS = 8_000;

type Input = Record<string, unknown>;

/** True where both hold the same arguments, in whatever order. */
export function isSameInput(left: Input, right: Input): boolean {
  return isDeepStrictEqual(left, right);
}

/**
 * For the model, in front of what came of its call: that something else ran than it asked for, and what. One text that was
 * changed is told as it is, everything else as JSON.
 */
export function describeRevision(before: Input, after: Input): string {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  const [only] = changed;
  const text = changed.length === 1 && only !== undefined ? after[only] : undefined;
  if (typeof text !== "string") return tell("arguments", JSON.stringify(after));
  return tell(only ?? "arguments", text);
}

function tell(name: string, text: string): string {
  const left = text.length - MAX_SHOWN_CHARS;
  const shown =
    left > 0 ? `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}\n[${left} more characters of it]` : text;
  return `The user changed the ${name} before it ran to:${shown.includes("\n") ? "\n" : " "}${shown}\n`;
}
