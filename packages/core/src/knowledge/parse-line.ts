import {
  KNOWLEDGE_TYPES,
  type KnowledgeEntry,
  type KnowledgeFile,
  type KnowledgeRemoval,
  type KnowledgeType,
} from "./types.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads one line of a knowledge file. Undefined for one that is no JSON, lacks what an entry needs or has a field of
 * the wrong type: it is passed over. Fields that are not known are kept; a confidence out of range becomes the nearest
 * that is in it.
 */
export function parseKnowledgeLine(line: string): KnowledgeEntry | KnowledgeRemoval | undefined {
  const value = parseObject(line);
  if (!value || typeof value.id !== "string" || value.id === "" || typeof value.timestamp !== "string") {
    return undefined;
  }
  const place = { id: value.id, timestamp: value.timestamp };
  if (value.removes === undefined) return readEntry(value, place);
  return typeof value.removes === "string" ? { ...place, removes: value.removes } : undefined;
}

function parseObject(line: string): JsonObject | undefined {
  try {
    // Zeros are what some file systems leave after a power failure.
    const value: unknown = JSON.parse(line.replaceAll("\0", ""));
    return isObject(value) ? value : undefined;
  } catch {
    // Torn by a process that died, or written by something else.
    return undefined;
  }
}

function readEntry(
  value: JsonObject,
  place: Pick<KnowledgeEntry, "id" | "timestamp">,
): KnowledgeEntry | undefined {
  const { type, content, confidence, sessionId, entryId, supersedes, tags, files, ...unknown } = value;
  if (!isKnowledgeType(type) || typeof content !== "string" || content.trim() === "") return undefined;
  if (typeof confidence !== "number") return undefined;
  if (!isOptional(sessionId, isString) || !isOptional(entryId, isString)) return undefined;
  if (!isOptional(supersedes, isString) || !isOptional(tags, isListOf(isString))) return undefined;
  if (!isOptional(files, isListOf(isFile))) return undefined;
  return {
    ...unknown,
    ...place,
    ...(sessionId !== undefined && { sessionId }),
    ...(entryId !== undefined && { entryId }),
    type,
    content,
    confidence: Math.min(1, Math.max(0, confidence)),
    ...(supersedes !== undefined && { supersedes }),
    ...(tags !== undefined && { tags }),
    ...(files !== undefined && { files }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isKnowledgeType(value: unknown): value is KnowledgeType {
  return KNOWLEDGE_TYPES.some((type) => type === value);
}

function isFile(value: unknown): value is KnowledgeFile {
  return isObject(value) && isString(value.path) && isString(value.hash);
}

function isListOf<T>(isElement: (value: unknown) => value is T): (value: unknown) => value is T[] {
  return (value): value is T[] => Array.isArray(value) && value.every(isElement);
}

function isOptional<T>(value: unknown, isKind: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || isKind(value);
}
