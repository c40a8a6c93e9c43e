import { markOwnKnowledge } from "../../../core/src/infrastructure/paths/knowledge.ts";
import type { TemporaryProject } from "./temporary-project.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface WrittenKnowledge {
  id: string;
  content: string;
  /** A minute and so many days ago. */
  daysAgo?: number;
  [field: string]: unknown;
}

/** Puts entries into a project as if they had been recorded: patterns with the usual confidence where nothing else is said. */
export function writeKnowledge(place: TemporaryProject, ...entries: WrittenKnowledge[]): void {
  const lines = entries.map(({ daysAgo = 0, ...entry }) => {
    const timestamp = new Date(Date.now() - daysAgo * DAY_MS - 60_000).toISOString();
    return JSON.stringify({ timestamp, type: "pattern", confidence: 0.8, ...entry });
  });
  place.write(".diligent/knowledge/knowledge.jsonl", lines.map((line) => `${line}\n`).join(""));
  markWritten(place, lines[0] ?? "");
}

/** Lets a knowledge file that begins with this line count as written on this machine. */
export function markWritten(place: TemporaryProject, firstLine: string): void {
  markOwnKnowledge({ HOME: place.home }, firstLine);
}
