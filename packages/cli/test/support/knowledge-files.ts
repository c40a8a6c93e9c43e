import { markOwnKnowledge } from "../../../core/src/infrastructure/paths/knowledge.ts";
import type { TemporaryProject } from "./temporary-project.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface WrittenKnowledge {
  id: string;
  content: string;
  /** A minute and this many days ago. */
  daysAgo?: number;
  [field: string]: unknown;
}

/** Adds entries to a project as if they had been recorded: by default patterns with the usual confidence. */
export function writeKnowledge(place: TemporaryProject, ...entries: WrittenKnowledge[]): void {
  const lines = entries.map(({ daysAgo = 0, ...entry }) => {
    const timestamp = new Date(Date.now() - daysAgo * DAY_MS - 60_000).toISOString();
    return JSON.stringify({ timestamp, type: "pattern", confidence: 0.8, ...entry });
  });
  place.write(".diligent/knowledge/knowledge.jsonl", lines.map((line) => `${line}\n`).join(""));
  markWritten(place, lines[0] ?? "");
}

/** Makes a knowledge file that begins with this line count as written on this machine. */
export function markWritten(place: TemporaryProject, firstLine: string): void {
  markOwnKnowledge({ HOME: place.home }, firstLine);
}
