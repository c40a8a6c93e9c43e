import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readSmallText } from "../../../infrastructure/fs/read.ts";
import type { ContentBlock, Usage } from "../../../types.ts";
import { readRecords } from "./json-lines.ts";
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

/** Text with which the agent itself begins a session. */
const CONTEXT_TEXT = /^\s*<session_context>/;

/**
 * A session of gemini-cli. A message that is written again replaces the first one with its id; `$set` may replace all
 * messages, and `$rewindTo` removes the last ones. Older versions wrote one JSON object.
 */
export async function readGeminiSession(
  { path, size }: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<ForeignSession | undefined> {
  const transcript = new ForeignTranscript("gemini", limits);
  const chat = new Chat();
  if (path.endsWith(".json")) {
    const object = size <= limits.maxLineBytes ? parseRecord(readFileSync(path, "utf8")) : undefined;
    if (object) chat.add(object);
    else transcript.skip(size <= limits.maxLineBytes ? "invalid_file" : "too_long_line");
  } else {
    for await (const record of readRecords(path, { counter: transcript, limits, signal })) chat.add(record);
  }
  const { header, messages } = chat;
  if (header.sessionId === undefined && messages.length === 0) return undefined;
  for (const message of messages) addMessage(message, transcript);
  const parentId = header.kind === "subagent" ? basename(dirname(path)) : undefined;
  return {
    agent: "gemini",
    id: textOf(header.sessionId) ?? basename(path).replace(/\.jsonl?$/, ""),
    path,
    size,
    cwd: geminiDirectory(path),
    createdMs: timeOf(header.startTime),
    ...(parentId !== undefined && { parent: { sessionId: parentId, agent: "agent" } }),
    items: transcript.finish(),
    skipped: transcript.skipped,
    children: [],
  };
}

/** The messages after all changes, in order. */
class Chat {
  header: JsonRecord = {};
  private byId = new Map<string, JsonRecord>();

  get messages(): JsonRecord[] {
    return [...this.byId.values()];
  }

  add(record: JsonRecord): void {
    const set = objectOf(record.$set);
    const rewindTo = textOf(record.$rewindTo);
    if (set) this.change(set);
    else if (rewindTo !== undefined) this.rewind(rewindTo);
    else if (textOf(record.sessionId) !== undefined && textOf(record.type) === undefined) this.change(record);
    else this.put(record);
  }

  private change({ messages, ...header }: JsonRecord): void {
    this.header = { ...this.header, ...header };
    if (!Array.isArray(messages)) return;
    this.byId = new Map();
    for (const message of objectsIn(messages)) this.put(message);
  }

  private put(message: JsonRecord): void {
    const id = textOf(message.id) ?? `#${this.byId.size}`;
    // A map keeps the first place of a key.
    this.byId.set(id, message);
  }

  private rewind(id: string): void {
    const ids = [...this.byId.keys()];
    for (const removed of ids.slice(Math.max(0, ids.indexOf(id)))) this.byId.delete(removed);
  }
}

function addMessage(message: JsonRecord, transcript: ForeignTranscript): void {
  const at = timeOf(message.timestamp);
  const type = textOf(message.type) ?? "unknown";
  switch (type) {
    case "user":
      addUser(at, message.content, transcript);
      return;
    case "gemini":
      addReply(at, message, transcript);
      return;
    case "info":
    case "warning":
    case "error":
      transcript.note(at, type, partsText(message.content));
      return;
    default:
      transcript.skip(type);
      return;
  }
}

function partsText(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join("\n");
}

function addUser(at: number, content: unknown, transcript: ForeignTranscript): void {
  const text = partsText(content);
  if (CONTEXT_TEXT.test(text)) {
    transcript.note(at, "context", text);
    return;
  }
  const parts = typeof content === "string" ? [{ text: content }] : objectsIn(content);
  const isResponse = ({ functionResponse }: JsonRecord) => objectOf(functionResponse) !== undefined;
  // They repeat what the reply says about its own calls.
  if (parts.some(isResponse)) transcript.skip("functionResponse");
  const spoken = parts.filter((part) => !isResponse(part));
  transcript.user(at, toBlocks(spoken, transcript));
}

function toBlocks(parts: readonly JsonRecord[], transcript: ForeignTranscript): ContentBlock[] {
  return parts.flatMap(({ text, inlineData }) => {
    const data = objectOf(inlineData);
    if (data) return [transcript.image(data.data)];
    return textOf(text)?.trim() ? [transcript.text(String(text))] : [];
  });
}

function addReply(at: number, message: JsonRecord, transcript: ForeignTranscript): void {
  const model = textOf(message.model) ?? "";
  const thoughts = objectsIn(message.thoughts).map(({ subject, description }) =>
    [textOf(subject) ?? "", textOf(description) ?? ""].filter((part) => part !== "").join("\n"),
  );
  const text = partsText(message.content);
  const calls = objectsIn(message.toolCalls);
  const blocks = [
    ...(thoughts.length > 0 ? [transcript.thinking(thoughts.join("\n\n"))] : []),
    ...(text.trim() === "" ? [] : [transcript.text(text)]),
    ...calls.map(({ id, name, args }) => transcript.call(textOf(id) ?? "", textOf(name) ?? "", args)),
  ];
  if (blocks.length === 0) {
    transcript.skip("empty_reply");
    return;
  }
  transcript.model(at, "google", model);
  transcript.reply(at, { blocks, model, usage: toUsage(objectOf(message.tokens)) });
  for (const call of calls) addResult(at, call, transcript);
}

function addResult(at: number, call: JsonRecord, transcript: ForeignTranscript): void {
  const results = Array.isArray(call.result) ? objectsIn(call.result) : [objectOf(call.result) ?? {}];
  const responses = listOf(results, (result) =>
    objectOf(objectOf(objectOf(result)?.functionResponse)?.response),
  );
  if (responses.length === 0 && textOf(call.resultDisplay) === undefined) return;
  const texts = listOf(
    responses,
    (response) => textOf(objectOf(response)?.output) ?? textOf(objectOf(response)?.error),
  );
  const shown = texts.length > 0 ? texts : [textOf(call.resultDisplay) ?? JSON.stringify(responses[0] ?? {})];
  transcript.result(timeOf(call.timestamp) || at, {
    toolCallId: textOf(call.id) ?? "",
    blocks: [...shown.map((text) => transcript.text(text)), ...toBlocks(results, transcript)],
    isError: call.status === "error" || call.status === "cancelled",
    isInterrupted: call.status === "cancelled",
  });
}

/** The agent's count of its input includes what was cached. */
function toUsage(tokens: JsonRecord | undefined): Usage | undefined {
  if (!tokens) return undefined;
  const cached = numberOf(tokens.cached);
  return {
    inputTokens: Math.max(0, numberOf(tokens.input) - cached),
    outputTokens: numberOf(tokens.output) + numberOf(tokens.thoughts),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}

const SMALL_FILE = 1_048_576;

/** The directory of a session, from the folder that holds it; empty if it is unknown. */
export function geminiDirectory(path: string): string {
  const parts = path.split("/chats/");
  const folder = parts.slice(0, -1).join("/chats/");
  if (folder === "") return "";
  const named = readSmallText(join(folder, ".project_root"), SMALL_FILE)?.trim();
  if (named) return named;
  const known = parseRecord(readSmallText(join(folder, "..", "..", "projects.json"), SMALL_FILE) ?? "") ?? {};
  const projects = objectOf(known.projects) ?? known;
  return Object.entries(projects).find(([, slug]) => slug === basename(folder))?.[0] ?? "";
}
