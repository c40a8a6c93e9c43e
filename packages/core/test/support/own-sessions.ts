import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes one of our sessions; each message is a text of the user, a minute after the one before. */
export function writeOwnSession(
  project: string,
  id: string,
  texts: readonly string[],
  day = "2026-06-01",
): string {
  const directory = join(project, ".diligent", "sessions");
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${id}.jsonl`);
  const lines = texts.map((content, index) => {
    const timestamp = `${day}T10:${String(index).padStart(2, "0")}:00.000Z`;
    const message = { role: "user", content, timestamp: Date.parse(timestamp) };
    const [own, parent] = [index, index - 1].map((number) => number.toString(16).padStart(8, "0"));
    return { type: "message", id: own, parentId: index === 0 ? null : parent, timestamp, message };
  });
  const header = { type: "session", version: 2, id, timestamp: `${day}T10:00:00.000Z`, cwd: project };
  writeFileSync(path, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}
