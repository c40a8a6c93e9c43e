import { randomHex } from "./random-hex.ts";

/** An id for a session entry: 8 hexadecimal digits. The caller checks it against those it has. */
export function generateEntryId(): string {
  return randomHex(4);
}

/** An id for a session, which sorts by time: `YYYYMMDDHHmmss-` (UTC) and 6 hexadecimal digits. */
export function generateSessionId(at: Date = new Date()): string {
  const stamp = at.toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return `${stamp}-${randomHex(3)}`;
}
