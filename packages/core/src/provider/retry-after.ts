interface HeaderReader {
  get(name: string): string | null;
}

/**
 * The wait that a response asks for, in milliseconds, from `retry-after-ms` or `retry-after` (seconds or an HTTP
 * date, RFC 9110). Undefined if neither has a valid value, for instance a negative number; zero for a date in the
 * past.
 *
 * @param nowMs milliseconds since the epoch.
 */
export function parseRetryAfter(headers: HeaderReader, nowMs: number): number | undefined {
  const milliseconds = parseNumber(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return Math.ceil(milliseconds);
  const value = headers.get("retry-after")?.trim();
  const seconds = parseNumber(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  return value ? parseDate(value, nowMs) : undefined;
}

function parseNumber(value: string | null | undefined): number | undefined {
  const text = value?.trim() ?? "";
  if (!/^\d+(\.\d*)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function parseDate(value: string, nowMs: number): number | undefined {
  // Date.parse accepts nearly anything, including "-5": an HTTP date contains a month and a time.
  if (!/[A-Za-z]{3}.*\d\d:\d\d:\d\d/.test(value)) return undefined;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

const HINT_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * The wait that an error's text asks for, in milliseconds, in the phrasing of OpenAI and similar servers: "Please try
 * again in 1m2.5s". Undefined if it states none.
 */
export function parseRetryHint(text: string): number | undefined {
  const hint = /try again in ((?:\d+(?:\.\d+)?(?:ms|s|m|h) ?)+)/i.exec(text)?.[1];
  if (hint === undefined) return undefined;
  const parts = [...hint.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gi)];
  const waitMs = parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (HINT_UNITS_MS[unit?.toLowerCase() ?? ""] ?? 0),
    0,
  );
  return Math.ceil(waitMs);
}
