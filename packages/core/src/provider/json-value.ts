/** Reading JSON that somebody else wrote, without trusting its shape. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object, or an empty one. */
export function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The value as a string, or an empty one. */
export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A count as a whole number from zero on, rounded down; zero for what is missing, negative or no number. */
export function countOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) return 0;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(value)));
}

// Deeper values overflow the stack of whoever walks them, JSON.stringify included; nothing real comes near.
const MAX_DEPTH = 1_000;

/** The parsed text, or undefined when it is no JSON or nests deeper than a thousand levels. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Whoever asks decides what text that is no JSON means.
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (isInString) {
      if (char === "\\") index += 1;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === "[" || char === "{") depth += 1;
    else if (char === "]" || char === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** The value with every lone surrogate in its strings and keys replaced: providers refuse text that is no Unicode. */
export function toWellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormedJson) ? value : value.map(toWellFormedJson);
  return isRecord(value) ? toWellFormedRecord(value) : value;
}

/** The same for an object; itself where there is nothing to replace, as nearly always. */
export function toWellFormedRecord(record: Record<string, unknown>): Record<string, unknown> {
  if (isWellFormedJson(record)) return record;
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key.toWellFormed(), toWellFormedJson(value)]),
  );
}

function isWellFormedJson(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormedJson);
  return (
    !isRecord(value) || Object.keys(value).every((key) => key.isWellFormed() && isWellFormedJson(value[key]))
  );
}
