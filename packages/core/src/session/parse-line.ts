import { readBranchSummary, readCompaction, readPrune } from "./parse-context-entry.ts";
import { readMessage } from "./parse-message.ts";
import type { SessionEntry } from "./types.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A line of a session file that could be made sense of. `other` is JSON of a newer version that is no entry as we know
 * them: passed over, and no damage.
 */
export type ParsedLine =
  | { kind: "header"; value: JsonObject }
  | { kind: "entry"; entry: SessionEntry }
  | { kind: "other" };

/**
 * Reads one line, which may come from a process that died, another program or a newer version of this one. Undefined
 * for a damaged one. Written by hand: listing sessions may not wait for a schema library to load.
 */
export function parseSessionLine(line: string): ParsedLine | undefined {
  const value = parseObject(line);
  if (!value) return undefined;
  if (value.type === "session") return { kind: "header", value };
  const entry = readEntry(value);
  return entry ? { kind: "entry", entry } : { kind: "other" };
}

// How our own entries and headers begin. No text inside of them can look so, since its quotes would be escaped; a
// structured argument could, but for an id and a timestamp where ours have them.
const LINE_START =
  /\{"type":"[^"]*","id":"[0-9a-f]{8}","parentId":(?:null|"[^"]*"),"timestamp":|\{"type":"session","version":|(?<=\})\{"type":/g;

/**
 * What can be read of a damaged line. Lines run together when a process died between a line and its newline, and
 * zeros are what some file systems leave after a power failure.
 */
export function parseDamagedLine(line: string): ParsedLine[] {
  const text = line.replaceAll("\0", "");
  const starts = [...text.matchAll(LINE_START)].map((match) => match.index);
  return starts.flatMap((start, index) => parseSessionLine(text.slice(start, starts[index + 1])) ?? []);
}

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    // A torn line: the caller counts it.
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The entry with all its fields, those we do not know included. One that lacks what its type needs is kept as an
 * unknown one, so that the chain of parents stays whole. Undefined without a place in that chain.
 */
function readEntry(value: JsonObject): SessionEntry | undefined {
  const { type, id, parentId } = value;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (parentId !== null && typeof parentId !== "string") return undefined;
  const timestamp = typeof value.timestamp === "string" ? value.timestamp : "";
  const place = { id, parentId, timestamp };
  return readKnownEntry(value, place) ?? { type: "unknown", ...place, raw: { ...value } };
}

function readKnownEntry(
  value: JsonObject,
  place: Pick<SessionEntry, "id" | "parentId" | "timestamp">,
): SessionEntry | undefined {
  switch (value.type) {
    case "message": {
      const message = readMessage(value.message);
      return message && { ...value, type: value.type, ...place, message };
    }
    case "model_change": {
      const { type, provider, modelId } = value;
      if (typeof provider !== "string" || typeof modelId !== "string") return undefined;
      return { ...value, type, ...place, provider, modelId };
    }
    case "session_info": {
      const { type, name, ...rest } = value;
      return { ...rest, type, ...place, ...(typeof name === "string" && { name }) };
    }
    case "label": {
      const { type, targetId, label, ...rest } = value;
      if (typeof targetId !== "string") return undefined;
      return { ...rest, type, ...place, targetId, ...(typeof label === "string" && { label }) };
    }
    case "compaction":
      return readCompaction(value, place);
    case "prune":
      return readPrune(value, place);
    case "branch_summary":
      return readBranchSummary(value, place);
    default:
      return undefined;
  }
}
