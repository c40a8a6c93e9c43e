import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The events of one response of the real Messages API, in order. */
export interface Recording {
  /** The file, and the response's number in it. */
  name: string;
  events: Array<Record<string, unknown>>;
}

/**
 * The recordings that `@ai-sdk/anthropic` ships, read where the package lies: one JSON event a line, several responses in
 * some files. A line that cannot be read is an error, so that none is missing unnoticed.
 */
export function readAnthropicRecordings(): Recording[] {
  const packageFile = Bun.resolveSync("@ai-sdk/anthropic/package.json", import.meta.dir);
  const folder = join(dirname(packageFile), "src", "__fixtures__");
  const files = readdirSync(folder).filter((file) => file.endsWith(".chunks.txt"));
  return files.sort().flatMap((file) => splitResponses(file, readFileSync(join(folder, file), "utf8")));
}

function splitResponses(file: string, text: string): Recording[] {
  const recordings: Recording[] = [];
  for (const line of text.split("\n").filter((candidate) => candidate.trim() !== "")) {
    const event = JSON.parse(line);
    if (event.type === "message_start")
      recordings.push({ name: `${file} ${recordings.length + 1}`, events: [] });
    const current = recordings.at(-1);
    if (!current) throw new Error(`${file} does not begin with message_start.`);
    current.events.push(event);
  }
  return recordings;
}
