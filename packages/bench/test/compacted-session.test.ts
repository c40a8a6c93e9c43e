import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSessionContext, resolvePaths } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { writeCompactedSession } from "../src/stage/session-files.ts";

test("writeCompactedSession() writes the requested number of entries, compactions and characters", () => {
  const project = mkdtempSync(join(tmpdir(), "diligent-bench-test-"));
  try {
    writeCompactedSession(project, { entries: 400, compactions: 3, stretchTokens: 5_000 });
    const { sessions } = resolvePaths(project);
    const [name = ""] = readdirSync(sessions).filter((name) => name.endsWith(".jsonl"));
    const { entries, skippedLines } = readSessionFile(join(sessions, name));
    expect([entries.length, skippedLines]).toEqual([400, 0]);
    expect(entries.filter(({ type }) => type === "compaction")).toHaveLength(3);
    const [summary, ...kept] = buildSessionContext(entries).messages;
    expect(summary).toMatchObject({ content: expect.stringContaining("src/part-99.ts") });
    // The other messages of a round have some 75 characters.
    const outputs = kept.flatMap((message) => (message.role === "tool_result" ? [message.output] : []));
    expect(outputs.join("").length + 75 * outputs.length).toBeWithin(19_000, 21_000);
  } finally {
    rmSync(project, { recursive: true });
  }
});
