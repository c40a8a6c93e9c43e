/** Untrusted JSON of another program: every access checks its type. */

/** A JSON object. */
export type JsonRecord = Readonly<Record<string, unknown>>;

// Deeper values cannot be written again without overflowing the stack, and no tool's arguments are.
const MAX_DEPTH = 60;
const TOO_DEEP = "[nested too deeply]";

/** The object, or undefined for anything else. */
export function objectOf(value: unknown): JsonRecord | undefined {
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects in a list; anything else is left out. */
export function objectsIn(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The items of a list that `read` accepts; it returns undefined for the others. */
export function listOf<T>(value: unknown, read: (item: unknown) => T | undefined): T[] {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((item) => read(item) ?? []);
}

/** The text, or undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A count: a finite number of at least zero, else zero. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

/** A parsed object; undefined for invalid JSON and for other values. */
export function parseRecord(text: string): JsonRecord | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined; // The caller counts it.
  }
}

// Times outside of these are not from a clock: 1970 to 2200.
const MAX_TIME_MS = 7_258_118_400_000;

/** Milliseconds since the epoch from ISO 8601 text or a number of milliseconds; 0 if it is neither. */
export function timeOf(value: unknown): number {
  const time = typeof value === "string" ? Date.parse(value) : typeof value === "number" ? value : 0;
  return time > 0 && time < MAX_TIME_MS ? Math.floor(time) : 0;
}

/** The same value, with anything nested too deeply replaced by a text; long texts are cut by `cut`. */
export function boundedCopy(value: unknown, cut: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((item) => boundedCopy(item, cut, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, boundedCopy(item, cut, depth + 1)]),
  );
}
