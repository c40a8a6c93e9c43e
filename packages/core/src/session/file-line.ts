import type { SessionEntry, SessionHeader } from "./types.ts";

/** What stands in the file for a header or an entry: an entry we do not know goes back as it came. */
export function toFileLine(line: SessionHeader | SessionEntry): object {
  return line.type === "unknown" ? line.raw : line;
}
