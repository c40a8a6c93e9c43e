import { asString, isRecord, parseJson } from "./json-value.ts";
import type { ProviderEvent } from "./types.ts";

/** A tool call while it arrives. */
export interface CallDraft {
  type: "tool_call";
  /** What the server tells it from others by, as far as it does. */
  index: unknown;
  wireId: string;
  /** Unique over the conversation. */
  id: string;
  name: string;
  json: string;
  /** What a gateway sends with a call and wants back with it, such as a signature of Gemini's. */
  extraContent: unknown;
  isAnnounced: boolean;
}

/** One entry of `tool_calls`, read: what is missing is undefined or empty. */
interface CallPiece {
  index: unknown;
  id: string;
  name: string;
  /** Text of the arguments. Some servers send the arguments as an object: it is whole then. */
  json: string;
  isWhole: boolean;
  extraContent: unknown;
}

/** The answer so far, as far as it concerns calls. */
export interface CallContext {
  calls: readonly CallDraft[];
  /** Adds a call that begins. */
  open(call: CallDraft): ProviderEvent[];
  /** Ids of the conversation's calls, added to here. */
  usedIds: Set<string>;
}

/** Takes in the calls, or pieces of calls, of one chunk. */
export function applyCalls(delta: Record<string, unknown>, context: CallContext): ProviderEvent[] {
  const touched = new Set<CallDraft>();
  return readPieces(delta).flatMap((piece) => {
    const known = findCall(piece, context.calls, touched);
    const call = known ?? createCall(piece, context.usedIds);
    touched.add(call);
    const opened = known ? [] : context.open(call);
    return [...opened, ...grow(call, piece)];
  });
}

/** Tells that a call has begun, and what had come of its arguments by then. */
export function announce(call: CallDraft): ProviderEvent[] {
  if (call.isAnnounced) return [];
  call.isAnnounced = true;
  const { id, name, json } = call;
  const start: ProviderEvent = { type: "tool_call_start", id, name };
  return json === "" ? [start] : [start, { type: "tool_call_delta", id, delta: json }];
}

/** True when the arguments are complete, as far as they can tell by themselves. */
export function hasWholeInput({ json }: CallDraft): boolean {
  return json.trimEnd().endsWith("}") && isRecord(parseJson(json));
}

function readPieces({ tool_calls: calls, function_call: legacy }: Record<string, unknown>): CallPiece[] {
  const list = Array.isArray(calls) ? calls : [calls];
  const entries = list.filter(isRecord).map(readPiece);
  return isRecord(legacy) ? [...entries, readPiece({ index: "function_call", function: legacy })] : entries;
}

function readPiece(entry: Record<string, unknown>): CallPiece {
  const called = isRecord(entry.function) ? entry.function : entry;
  const isWhole = isRecord(called.arguments);
  return {
    index: entry.index ?? undefined,
    id: asString(entry.id),
    name: asString(called.name),
    json: isWhole ? JSON.stringify(called.arguments) : asString(called.arguments),
    isWhole,
    extraContent: entry.extra_content ?? undefined,
  };
}

/**
 * The call that a piece goes on with; undefined for a new one. The index decides where there is one, then the id. Yet
 * some servers give every call the index 0, others repeat name or id with every piece, and others give neither.
 */
function findCall(
  piece: CallPiece,
  calls: readonly CallDraft[],
  touched: ReadonlySet<CallDraft>,
): CallDraft | undefined {
  const { index, id } = piece;
  const call = calls.findLast((candidate) => {
    if (index !== undefined) return candidate.index === index;
    return id === "" || candidate.wireId === id;
  });
  if (!call) return undefined;
  const isNew = isOtherId(piece, call) ? beginsByOtherId(piece, call) : beginsByName(piece, call, touched);
  return isNew ? undefined : call;
}

function isOtherId({ id }: CallPiece, { wireId }: CallDraft): boolean {
  return id !== "" && wireId !== "" && id !== wireId;
}

function beginsByOtherId({ name }: CallPiece, call: CallDraft): boolean {
  return name !== "" && (name !== call.name || call.json === "" || hasWholeInput(call));
}

/** For a piece that no id tells from the call before it. */
function beginsByName(piece: CallPiece, call: CallDraft, touched: ReadonlySet<CallDraft>): boolean {
  const { index, id, name, json } = piece;
  if (name === "" || (id !== "" && id === call.wireId)) return false;
  if (index === undefined) return touched.has(call) || name !== call.name || hasWholeInput(call);
  return json !== "" && hasWholeInput(call);
}

function createCall({ index, id }: CallPiece, usedIds: Set<string>): CallDraft {
  const ownId = toUniqueId(id, usedIds);
  usedIds.add(ownId);
  return {
    type: "tool_call",
    index,
    wireId: id,
    id: ownId,
    name: "",
    json: "",
    extraContent: undefined,
    isAnnounced: false,
  };
}

function toUniqueId(id: string, usedIds: ReadonlySet<string>): string {
  let unique = id;
  // Nine letters and digits are an id to every server: Mistral's take nothing else.
  for (let count = usedIds.size + 1; unique === ""; count++) {
    const made = `call${String(count).padStart(5, "0")}`;
    if (!usedIds.has(made)) unique = made;
  }
  for (let count = 2; usedIds.has(unique); count++) unique = `${id}_${count}`;
  return unique;
}

function grow(call: CallDraft, piece: CallPiece): ProviderEvent[] {
  call.extraContent = piece.extraContent ?? call.extraContent;
  // A name may be repeated with every piece, or come in pieces before the arguments.
  if (call.name === "") call.name = piece.name;
  else if (piece.name !== call.name && call.json === "") call.name += piece.name;
  const delta = newPartOf(piece, call);
  call.json += delta;
  if (!call.isAnnounced) return call.name === "" ? [] : announce(call);
  return delta === "" ? [] : [{ type: "tool_call_delta", id: call.id, delta }];
}

/** Some servers repeat the whole of the arguments at the end. */
function newPartOf({ json, isWhole }: CallPiece, call: CallDraft): string {
  const isRepeated = call.json !== "" && (isWhole || (json === call.json && hasWholeInput(call)));
  return isRepeated ? "" : json;
}
