import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines } from "./run-diligent.ts";
import type { TemporaryProject } from "./temporary-project.ts";

export interface WrittenSession {
  id: string;
  /** The time of the last entry, ISO 8601. */
  modified: string;
  /** The first is the user's; they alternate. */
  texts: readonly string[];
  name?: string;
  version?: number;
  cwd?: string;
  /** The model that answered; default: a script. */
  model?: string;
}

/** Writes a session into a project as if it had taken place; returns the path of its file. */
export function writeSession(place: TemporaryProject, session: WrittenSession): string {
  const { id, modified, texts, name, version = 2, cwd = place.project, model } = session;
  const entries = texts.map((text, index) => ({
    type: "message",
    id: String(index).padStart(8, "0"),
    parentId: index === 0 ? null : String(index - 1).padStart(8, "0"),
    timestamp: modified,
    message: index % 2 === 0 ? userMessage(text) : assistantMessage(text, model),
  }));
  const naming = { type: "session_info", id: "000000ff", parentId: null, timestamp: modified, name };
  const lines = [
    { type: "session", version, id, timestamp: modified, cwd },
    ...entries,
    ...(name === undefined ? [] : [naming]),
  ];
  return place.write(
    `.diligent/sessions/${id}.jsonl`,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
}

function userMessage(content: string) {
  return { role: "user", content, timestamp: 1 };
}

function assistantMessage(text: string, model = "scripted/script.json") {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    model,
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
    stopReason: "end_turn",
    timestamp: 1,
  };
}

/** The ids of the project's session files, the oldest first. */
export function sessionIds({ project }: TemporaryProject): string[] {
  const directory = join(project, ".diligent", "sessions");
  return readdirSync(directory)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => name.replace(/\.jsonl$/, ""))
    .sort();
}

export interface SavedMessage {
  role: string;
  content?: unknown;
  output?: string;
  toolCallId?: string;
  stopReason?: string;
  model?: string;
}

/** The messages in a session file, of all branches; default: the only session. */
export function savedMessages(place: TemporaryProject, id = sessionIds(place)[0] ?? "none"): SavedMessage[] {
  return savedLines(place, id).flatMap(({ type, message }) =>
    type === "message" && isMessage(message) ? [message] : [],
  );
}

/**
 * The lines of a session file, without those that each request adds, and those about connections, which are added at any
 * moment: what follows one of these follows what is before it.
 */
export function savedLines(
  place: TemporaryProject,
  id = sessionIds(place)[0] ?? "none",
): Record<string, unknown>[] {
  const text = readFileSync(join(place.project, ".diligent", "sessions", `${id}.jsonl`), "utf8");
  const lines = parseLines(text).filter(({ type }) => type !== "request");
  const isAboutNetwork = ({ type, customType }: Record<string, unknown>) =>
    type === "custom" && customType === "network";
  const parents = new Map(lines.filter(isAboutNetwork).map(({ id, parentId }) => [id, parentId]));
  return lines
    .filter((line) => !isAboutNetwork(line))
    .map((line) => {
      let { parentId } = line;
      while (parents.has(parentId)) parentId = parents.get(parentId);
      return "parentId" in line ? { ...line, parentId } : line;
    });
}

/** The text of a session file without the lines about connections, which each request to a provider adds. */
export function withoutConnections(text: string): string {
  return text.replace(/^\{"type":"custom".*"customType":"network".*\n/gm, "");
}

/** The types of the lines of a session file, "session" for the first. */
export function entryTypes(place: TemporaryProject, id?: string): string[] {
  return savedLines(place, id).map(({ type }) => String(type));
}

/** The text of a message, in short. */
export function said(messages: readonly SavedMessage[]): string[] {
  return messages.map(({ role, content, output }) => `${role}: ${textOf(content) || output || ""}`.trim());
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block: unknown) => (isText(block) ? [block.text] : [])).join("");
}

function isText(value: unknown): value is { text: string } {
  return typeof value === "object" && value !== null && "text" in value && typeof value.text === "string";
}

function isMessage(value: unknown): value is SavedMessage {
  return typeof value === "object" && value !== null && "role" in value && typeof value.role === "string";
}
