import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { TimeSlicer } from "../../../infrastructure/async.ts";
import { readSmallText } from "../../../infrastructure/fs/read.ts";
import type { ContentBlock, Usage } from "../../../types.ts";
import {
  type JsonRecord,
  listOf,
  numberOf,
  objectOf,
  objectsIn,
  parseRecord,
  textOf,
  timeOf,
} from "./json-value.ts";
import { ForeignTranscript } from "./transcript.ts";
import type { ForeignLocation, ForeignSession, ReadLimits } from "./types.ts";

/** A message of opencode with its parts, in order. */
interface OpencodeMessage {
  id: string;
  info: JsonRecord;
  parts: JsonRecord[];
}

/** A session of opencode: in its database, in files of an older version, or in a file from `opencode export`. */
export async function readOpencodeSession(
  location: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<ForeignSession | undefined> {
  const transcript = new ForeignTranscript("opencode", limits);
  const { path, size } = location;
  const stored = path.endsWith(".db")
    ? await readFromDatabase(location, transcript, signal)
    : readFromFiles(location, limits, transcript);
  if (!stored) return undefined;
  const { info, messages } = stored;
  const revert = objectOf(info.revert);
  const conversation = withoutReverted(messages, revert, transcript);
  for (const message of conversation) addMessage(message, { transcript, conversation });
  const parentId = textOf(info.parent_id) ?? textOf(info.parentID);
  return {
    agent: "opencode",
    id: textOf(info.id) ?? location.sessionId ?? "",
    path,
    size,
    version: textOf(info.version),
    cwd: textOf(info.directory) ?? "",
    name: textOf(info.title),
    createdMs: timeOf(info.time_created) || timeOf(objectOf(info.time)?.created),
    ...(parentId && { parent: { sessionId: parentId, agent: textOf(info.agent) ?? "agent" } }),
    items: transcript.finish(),
    skipped: transcript.skipped,
    children: [],
  };
}

interface Stored {
  info: JsonRecord;
  messages: OpencodeMessage[];
}

const BUSY_MS = 3_000;

/** The sessions of a database with the time of their last change. @throws Error if it cannot be read. */
export async function listDatabaseSessions(
  path: string,
): Promise<{ id: string; modifiedMs: number; directory: string }[]> {
  const { Database } = await import("bun:sqlite");
  const database = new Database(path, { readonly: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const rows: unknown[] = database.query("SELECT * FROM session").all();
    return objectsIn(rows).flatMap((row) => {
      const id = textOf(row.id);
      const modifiedMs = timeOf(row.time_updated) || timeOf(row.time_created);
      return id === undefined ? [] : [{ id, modifiedMs, directory: textOf(row.directory) ?? "" }];
    });
  } finally {
    database.close();
  }
}

/** Opened where it lies and read-only: a copy of the file alone would lack what is still in its log. */
async function readFromDatabase(
  { path, sessionId = "" }: ForeignLocation,
  transcript: ForeignTranscript,
  signal: AbortSignal | undefined,
): Promise<Stored | undefined> {
  const { Database } = await import("bun:sqlite");
  const database = new Database(path, { readonly: true });
  const slicer = new TimeSlicer(signal);
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const row: unknown = database.query("SELECT * FROM session WHERE id = ?").get(sessionId);
    const found = objectOf(row);
    if (!found) return undefined;
    const messages = new Map<string, OpencodeMessage>();
    const read = (query: string) => database.query(query).iterate(sessionId);
    for (const each of read("SELECT id, data FROM message WHERE session_id = ? ORDER BY id")) {
      const { id, data } = objectOf(each) ?? {};
      const info = parseRecord(textOf(data) ?? "");
      if (typeof id === "string" && info) messages.set(id, { id, info, parts: [] });
      else transcript.skip("invalid_line");
    }
    for (const each of read("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id")) {
      if (slicer.isDue) await slicer.pause();
      const { id, message_id: messageId, data } = objectOf(each) ?? {};
      const part = parseRecord(textOf(data) ?? "");
      const message = messages.get(textOf(messageId) ?? "");
      if (part && message) message.parts.push({ id, ...part });
      else transcript.skip("invalid_line");
    }
    const revert = typeof found.revert === "string" ? parseRecord(found.revert) : found.revert;
    return { info: { ...found, revert }, messages: [...messages.values()] };
  } finally {
    database.close();
  }
}

// An id becomes part of a path.
const FILE_NAME = /^[\w-]{1,100}$/;

/** `{info, messages}` in one file, or the storage of older versions: a file for each message and each part. */
function readFromFiles(
  { path, size }: ForeignLocation,
  limits: ReadLimits,
  transcript: ForeignTranscript,
): Stored | undefined {
  if (size > limits.maxLineBytes) {
    transcript.skip("too_long_line");
    return undefined;
  }
  const object = parseRecord(readSmallText(path, limits.maxLineBytes) ?? "");
  if (!object) return undefined;
  const info = objectOf(object.info);
  if (info) {
    const messages = objectsIn(object.messages).flatMap((each) => {
      const own = objectOf(each.info);
      return own ? [{ id: textOf(own.id) ?? "", info: own, parts: objectsIn(each.parts) }] : [];
    });
    return { info, messages };
  }
  const id = textOf(object.id);
  if (id === undefined || !FILE_NAME.test(id)) return undefined;
  // storage/session/PROJECT/ID.json, storage/message/ID/*.json, storage/part/MESSAGE/*.json
  const storage = dirname(dirname(dirname(path)));
  const messages = jsonFiles(join(storage, "message", id), limits, transcript).map((message) => {
    const messageId = textOf(message.id) ?? "";
    return {
      id: messageId,
      info: message,
      parts: FILE_NAME.test(messageId) ? jsonFiles(join(storage, "part", messageId), limits, transcript) : [],
    };
  });
  return { info: object, messages };
}

function jsonFiles(directory: string, limits: ReadLimits, transcript: ForeignTranscript): JsonRecord[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  return listOf(names.sort(), (name) => {
    const text = readSmallText(join(directory, basename(String(name))), limits.maxLineBytes);
    const record = parseRecord(text ?? "");
    if (!record) transcript.skip("invalid_line");
    return record;
  });
}

/** What the user undid is not part of the conversation. */
function withoutReverted(
  messages: readonly OpencodeMessage[],
  revert: JsonRecord | undefined,
  transcript: ForeignTranscript,
): readonly OpencodeMessage[] {
  const messageId = textOf(revert?.messageID);
  const at = messages.findIndex(({ id }) => id === messageId);
  const [message] = at < 0 ? [] : messages.slice(at);
  if (!message) return messages;
  const partId = textOf(revert?.partID);
  const keptParts = partId === undefined ? 0 : message.parts.findIndex(({ id }) => id === partId);
  const kept = keptParts > 0 ? [{ ...message, parts: message.parts.slice(0, keptParts) }] : [];
  for (let count = at + kept.length; count < messages.length; count++) transcript.skip("reverted");
  return [...messages.slice(0, at), ...kept];
}

interface MessageContext {
  transcript: ForeignTranscript;
  conversation: readonly OpencodeMessage[];
}

function addMessage(message: OpencodeMessage, context: MessageContext): void {
  const { info } = message;
  const { transcript } = context;
  const at = timeOf(objectOf(info.time)?.created);
  if (info.role === "user") addUser(at, message, transcript);
  else if (info.role === "assistant" && info.summary === true) addSummary(at, message, context);
  else if (info.role === "assistant") addReply(at, message, transcript);
  else transcript.skip(`message/${textOf(info.role) ?? "unknown"}`);
}

function addUser(at: number, { id, parts }: OpencodeMessage, transcript: ForeignTranscript): void {
  const blocks = parts.flatMap((part): ContentBlock[] => {
    const text = textOf(part.text) ?? "";
    if (part.type === "text" && (part.synthetic === true || part.ignored === true)) {
      transcript.note(at, "context", text);
      return [];
    }
    if (part.type === "text") return text.trim() === "" ? [] : [transcript.text(text)];
    if (part.type === "file" && textOf(part.mime)?.startsWith("image/"))
      return [transcript.imageAt(part.url)];
    // The compaction itself is the reply that follows; the content of other files follows as text.
    if (part.type !== "compaction") transcript.skip(`part/${textOf(part.type) ?? "unknown"}`);
    return [];
  });
  transcript.user(at, blocks, { key: id });
}

/** The reply to a request for a summary is a compaction. */
function addSummary(
  at: number,
  { id, parts }: OpencodeMessage,
  { transcript, conversation }: MessageContext,
): void {
  const position = conversation.findIndex((message) => message.id === id);
  const request = conversation
    .slice(0, position)
    .findLast((message) => message.parts.some(({ type }) => type === "compaction"));
  const part = request?.parts.find(({ type }) => type === "compaction");
  const summary = parts.flatMap(({ type, text }) => (type === "text" ? [textOf(text) ?? ""] : [])).join("\n");
  transcript.compaction(at, { summary, keptKey: textOf(part?.tail_start_id), key: id });
}

const NOISE = new Set(["step-start", "step-finish", "snapshot", "patch", "retry"]);

function addReply(at: number, { id, info, parts }: OpencodeMessage, transcript: ForeignTranscript): void {
  const model = textOf(info.modelID) ?? "";
  const calls: JsonRecord[] = [];
  const blocks = parts.flatMap((part): ContentBlock[] => {
    switch (part.type) {
      case "text":
        return textOf(part.text)?.trim() ? [transcript.text(String(part.text))] : [];
      case "reasoning": {
        const signature = part.metadata;
        return [transcript.thinking(textOf(part.text) ?? "", signature)];
      }
      case "tool":
        calls.push(part);
        return [
          transcript.call(textOf(part.callID) ?? "", textOf(part.tool) ?? "", objectOf(part.state)?.input),
        ];
      default: {
        const type = textOf(part.type) ?? "unknown";
        transcript.skip(NOISE.has(type) ? type : `part/${type}`);
        return [];
      }
    }
  });
  if (blocks.length === 0) {
    transcript.skip("empty_reply");
    return;
  }
  transcript.model(at, textOf(info.providerID) ?? "unknown", model);
  const isFailed = objectOf(info.error) !== undefined;
  const stopReason = isFailed ? "error" : calls.length > 0 ? "tool_use" : "end_turn";
  transcript.reply(at, { blocks, model, usage: toUsage(objectOf(info.tokens)), stopReason, key: id });
  for (const call of calls) addResult(at, call, transcript);
}

function addResult(at: number, call: JsonRecord, transcript: ForeignTranscript): void {
  const state = objectOf(call.state) ?? {};
  const isError = state.status === "error";
  // A pending or running call has no result: it was interrupted.
  if (state.status !== "completed" && !isError) return;
  const exit = objectOf(state.metadata)?.exit;
  const images = objectsIn(state.attachments).flatMap(({ mime, url }) =>
    textOf(mime)?.startsWith("image/") ? [transcript.imageAt(url)] : [],
  );
  transcript.result(timeOf(objectOf(state.time)?.end) || at, {
    toolCallId: textOf(call.callID) ?? "",
    blocks: [transcript.text(textOf(isError ? state.error : state.output) ?? ""), ...images],
    isError,
    ...(typeof exit === "number" && { exitCode: exit }),
  });
}

function toUsage(tokens: JsonRecord | undefined): Usage | undefined {
  if (!tokens) return undefined;
  const cache = objectOf(tokens.cache);
  return {
    inputTokens: numberOf(tokens.input),
    outputTokens: numberOf(tokens.output) + numberOf(tokens.reasoning),
    cacheReadTokens: numberOf(cache?.read),
    cacheWriteTokens: numberOf(cache?.write),
  };
}
