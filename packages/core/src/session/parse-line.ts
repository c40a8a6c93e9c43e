import { readMessage } from "./parse-message.ts";
import type { SessionEntry, SessionHeader } from "./types.ts";

/** A line of a session file that could be made sense of. */
export type ParsedLine = { kind: "header"; header: SessionHeader } | { kind: "entry"; entry: SessionEntry };

/**
 * Reads one line, which may come from a process that died, another program or a newer version of this one. Undefined
 * for what is no entry. Written by hand: listing sessions may not wait for a schema library to load.
 */
export function parseSessionLine(line: string): ParsedLine | undefined {
  const value = parseObject(line);
  if (!value) return undefined;
  if (value.type === "session") {
    const header = readHeader(value);
    return header && { kind: "header", header };
  }
  const entry = readEntry(value);
  return entry && { kind: "entry", entry };
}

type JsonObject = Record<string, unknown>;

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    // A torn line: the caller counts it.
    return undefined;
  }
}

function readHeader(value: JsonObject): SessionHeader | undefined {
  const { version, id, timestamp, cwd, parentSession } = value;
  if (typeof version !== "number" || typeof id !== "string") return undefined;
  if (typeof timestamp !== "string" || typeof cwd !== "string") return undefined;
  const parent = typeof parentSession === "string" ? { parentSession } : {};
  return { type: "session", version, id, timestamp, cwd, ...parent };
}

/** The entry, or undefined when it lacks what the rest of the program relies on. */
function readEntry(value: JsonObject): SessionEntry | undefined {
  const { type, id, parentId, timestamp } = value;
  if (typeof type !== "string" || typeof id !== "string" || typeof timestamp !== "string") return undefined;
  if (parentId !== null && typeof parentId !== "string") return undefined;
  const base = { id, parentId, timestamp };
  switch (type) {
    case "message": {
      const message = readMessage(value.message);
      return message && { type, ...base, message };
    }
    case "model_change": {
      const { provider, modelId } = value;
      if (typeof provider !== "string" || typeof modelId !== "string") return undefined;
      return { type, ...base, provider, modelId };
    }
    case "session_info":
      return { type, ...base, ...(typeof value.name === "string" && { name: value.name }) };
    case "label": {
      const { targetId, label } = value;
      if (typeof targetId !== "string") return undefined;
      return { type, ...base, targetId, ...(typeof label === "string" && { label }) };
    }
    default:
      return { type: "unknown", ...base, raw: value };
  }
}
