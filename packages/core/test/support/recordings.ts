import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The events of one response of a real API, in order. */
export interface Recording {
  /** The file, and the response's number in it. */
  name: string;
  events: Array<Record<string, unknown>>;
}

/** The recordings of the Messages API that `@ai-sdk/anthropic` ships, read where the package lies. */
export function readAnthropicRecordings(): Recording[] {
  return readRecordings(Bun.resolveSync("@ai-sdk/anthropic/package.json", import.meta.dir), {
    folder: join("src", "__fixtures__"),
    firstEvent: "message_start",
  });
}

/** The recordings of the Responses API that `@ai-sdk/openai` ships, read where the package lies. */
export function readOpenAIRecordings(): Recording[] {
  return readRecordings(Bun.resolveSync("@ai-sdk/openai/package.json", import.meta.dir), {
    folder: join("src", "responses", "__fixtures__"),
    firstEvent: "response.created",
  });
}

/**
 * One JSON event a line, several responses in some files. A line that cannot be read is an error, so that none is missing
 * unnoticed.
 */
function readRecordings(
  packageFile: string,
  { folder, firstEvent }: { folder: string; firstEvent: string },
): Recording[] {
  const path = join(dirname(packageFile), folder);
  const files = readdirSync(path).filter((file) => file.endsWith(".chunks.txt"));
  return files
    .sort()
    .flatMap((file) => splitResponses(file, readFileSync(join(path, file), "utf8"), firstEvent));
}

function splitResponses(file: string, text: string, firstEvent: string): Recording[] {
  const recordings: Recording[] = [];
  for (const line of text.split("\n").filter((candidate) => candidate.trim() !== "")) {
    const event = JSON.parse(line);
    if (event.type === firstEvent) recordings.push({ name: `${file} ${recordings.length + 1}`, events: [] });
    const current = recordings.at(-1);
    if (!current) throw new Error(`${file} does not begin with ${firstEvent}.`);
    current.events.push(event);
  }
  return recordings;
}

/** The first recording whose name contains `part`. @throws Error if there is none. */
export function recordingNamed(recordings: readonly Recording[], part: string): Recording {
  const found = recordings.find(({ name }) => name.includes(part));
  if (!found) throw new Error(`There is no recording ${part}.`);
  return found;
}
