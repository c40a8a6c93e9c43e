import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type FileLine, readLines } from "../infrastructure/line-reader.ts";
import { messageText } from "../types.ts";
import { parseSessionLine } from "./parse-line.ts";
import { checkVersion } from "./read-session-file.ts";
import type { SessionHeader, SessionInfo } from "./types.ts";

/**
 * The sessions of a directory, the last changed first. Each file is read line by line and only what the list shows is
 * parsed, so that memory does not grow with a file. What is no session is left out.
 */
export async function listSessions(sessionsDir: string): Promise<SessionInfo[]> {
  const sessions = sessionFileNames(sessionsDir).flatMap(
    (name) => summarizeSession(join(sessionsDir, name)) ?? [],
  );
  return sessions.sort((left, right) => right.modified.getTime() - left.modified.getTime());
}

function sessionFileNames(sessionsDir: string): string[] {
  try {
    return readdirSync(sessionsDir).filter((name) => name.endsWith(".jsonl"));
  } catch {
    // No directory yet, or none that may be read: there are no sessions to show.
    return [];
  }
}

/** Undefined when the file is no session, or one of a newer version. */
export function summarizeSession(path: string): SessionInfo | undefined {
  const summary = new Summary();
  try {
    for (const line of readLines(path)) {
      if (!summary.add(line, path)) return undefined;
    }
  } catch {
    // Unreadable, vanished or of a newer version: not one to resume.
    return undefined;
  }
  return summary.toInfo(path);
}

// How our own lines begin; everything else is parsed in full.
const OWN_MESSAGE =
  /^\{"type":"message","id":"[^"]*","parentId":(?:null|"[^"]*"),"timestamp":"([^"]*)","message":\{"role":"(?:assistant|tool_result)"/;
const OWN_PREFIX_LENGTH = 200;

class Summary {
  private header: SessionHeader | undefined;
  private name: string | undefined;
  private firstUserMessage: string | undefined;
  private messageCount = 0;
  private lastTimestamp: string | undefined;

  /** Takes in a line; false when the file cannot be a session. */
  add({ text, complete }: FileLine, path: string): boolean {
    const own = complete ? OWN_MESSAGE.exec(text.slice(0, OWN_PREFIX_LENGTH)) : null;
    if (own) return this.countMessage(own[1] ?? "");
    const parsed = parseSessionLine(text);
    if (parsed?.kind === "header") this.header ??= checkVersion(parsed.header, path);
    if (!this.header) return false;
    if (parsed?.kind !== "entry") return true;
    const { entry } = parsed;
    this.lastTimestamp = entry.timestamp;
    if (entry.type === "session_info") this.name = entry.name;
    if (entry.type !== "message") return true;
    if (entry.message.role === "user") this.firstUserMessage ??= messageText(entry.message);
    return this.countMessage(entry.timestamp);
  }

  toInfo(path: string): SessionInfo | undefined {
    if (!this.header) return undefined;
    const { id, cwd, timestamp, parentSession } = this.header;
    return {
      id,
      path,
      cwd,
      ...(this.name !== undefined && { name: this.name }),
      created: new Date(timestamp),
      modified: new Date(this.lastTimestamp ?? timestamp),
      messageCount: this.messageCount,
      ...(this.firstUserMessage !== undefined && { firstUserMessage: this.firstUserMessage }),
      ...(parentSession !== undefined && { parentSession }),
    };
  }

  private countMessage(timestamp: string): boolean {
    this.messageCount++;
    this.lastTimestamp = timestamp;
    return this.header !== undefined;
  }
}
