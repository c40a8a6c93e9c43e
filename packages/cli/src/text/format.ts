/** `2026-02-25 10:30`, local. */
export function formatLocalMinute(date: Date): string {
  return `${formatLocalDate(date)} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** `2026-02-25T10:30:00`, local. */
export function formatLocalSecond(date: Date): string {
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
  return `${formatLocalDate(date)}T${time}`;
}

/** `1 message`, `2 messages`; also for zero. */
export function formatMessageCount(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

/** How long ago something was, in its largest unit: `5 minutes ago`. */
export function formatAge(ageMs: number): string {
  const unit = UNITS.find(({ durationMs }) => ageMs >= durationMs);
  if (!unit) return "just now";
  const count = Math.floor(ageMs / unit.durationMs);
  return `${count} ${unit.name}${count === 1 ? "" : "s"} ago`;
}

const MINUTE_MS = 60_000;
const UNITS: readonly { name: string; durationMs: number }[] = [
  { name: "year", durationMs: 365 * 24 * 60 * MINUTE_MS },
  { name: "month", durationMs: 30 * 24 * 60 * MINUTE_MS },
  { name: "day", durationMs: 24 * 60 * MINUTE_MS },
  { name: "hour", durationMs: 60 * MINUTE_MS },
  { name: "minute", durationMs: MINUTE_MS },
];

/** `640 bytes`, `12 KB`, `3.4 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${Math.round(kilobytes)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}

function formatLocalDate(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** A text as a Markdown code block, with a fence that nothing in it can close. */
export function fence(text: string): string {
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1));
  const lineEnd = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${mark}\n${text}${lineEnd}${mark}`;
}

/** A text as inline Markdown code. */
export function codeSpan(text: string): string {
  const mark = "`".repeat(longestRun(text) + 1);
  return `${mark} ${text.replaceAll("\n", " ")} ${mark}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/**
 * A value as one line of JSON with its line feed. Control characters, and the two separators that some readers treat as
 * line ends, are escaped, so the line is safe to show and to split; the value is unchanged.
 */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(ESCAPED, escapeUnit)}\n`;
}

/** The same as multi-line JSON. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(ESCAPED, escapeUnit)}\n`;
}

const ESCAPED = /[\u007f-\u009f\u2028\u2029]/g;

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
