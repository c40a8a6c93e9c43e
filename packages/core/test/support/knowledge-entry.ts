import type { KnowledgeEntry } from "../../src/knowledge/types.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;

/** A moment that tests reckon from. */
export const NOON = Date.parse("2026-11-21T12:00:00.000Z");

/** So many days before noon, ISO 8601. */
export function daysAgo(days: number): string {
  return new Date(NOON - days * DAY_MS).toISOString();
}

/** An entry that says nothing special, recorded at noon with full confidence. */
export function knowledge(id: string, fields: Partial<KnowledgeEntry> = {}): KnowledgeEntry {
  return {
    id,
    timestamp: daysAgo(0),
    type: "pattern",
    content: `What ${id} says.`,
    confidence: 1,
    ...fields,
  };
}
