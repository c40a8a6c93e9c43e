import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KNOWLEDGE_TYPES, type KnowledgeEntry, knowledgeFilePath, resolvePaths } from "@diligent/core";
import { SOURCE_FILES, sourcePath } from "./project.ts";

const LATEST = Date.UTC(2026, 10, 1);
const HOUR_MS = 60 * 60 * 1000;
const CONTENT = "is built only after the generated files are there, since the parser reads them at import. ";

/**
 * Writes so many entries into a project of `createProject` as a year of sessions would leave them: one in ten replaces
 * an earlier one, one in three speaks of a file, and half of those files have changed since.
 */
export function writeKnowledge(project: string, count: number): void {
  const { knowledge } = resolvePaths(project);
  const hashes = Array.from({ length: SOURCE_FILES }, (_, index) => hashOf(join(project, sourcePath(index))));
  const lines = Array.from({ length: count }, (_, number) => {
    const path = sourcePath(number);
    const hash = number % 2 === 0 ? hashes[number % SOURCE_FILES] : undefined;
    const file = { path, hash: hash ?? hashOf(import.meta.path) };
    return `${JSON.stringify(createEntry(number, count, file))}\n`;
  });
  mkdirSync(knowledge, { recursive: true, mode: 0o700 });
  writeFileSync(knowledgeFilePath(knowledge), lines.join(""), { mode: 0o600 });
}

function createEntry(number: number, count: number, file: { path: string; hash: string }): KnowledgeEntry {
  return {
    id: toId(number),
    timestamp: new Date(LATEST - (count - number) * HOUR_MS).toISOString(),
    sessionId: "20260101000000-000000",
    type: KNOWLEDGE_TYPES[number % KNOWLEDGE_TYPES.length] ?? "pattern",
    content: `Part ${number} ${CONTENT.repeat(1 + (number % 3))}`,
    confidence: 0.5 + (number % 50) / 100,
    ...(number % 10 === 9 && { supersedes: toId(number - 7) }),
    ...(number % 3 === 0 && { files: [file] }),
  };
}

function hashOf(path: string): string {
  return Bun.SHA256.hash(readFileSync(path), "hex");
}

function toId(number: number): string {
  return (0x10000000 + number).toString(16);
}
