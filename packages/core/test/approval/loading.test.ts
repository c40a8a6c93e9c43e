import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadedFiles } from "../support/loaded-files.ts";

/** What the first decision, search or change needs, and no request before it. */
const LATER = [
  "approval/bash/grammar.ts",
  "approval/grants.ts",
  "approval/evaluate-request.ts",
  "approval/bash/command-policy.ts",
  "approval/paths.ts",
  "approval/reads.ts",
  "agent/tool-calls.ts",
  "tool/execute.ts",
  "tools/parameters.ts",
  "tools/shell/run-shell.ts",
  "tools/read/read-file.ts",
  "tools/search/search-scope.ts",
  "tools/search/find-files.ts",
  "tools/search/grep.ts",
  "tools/edit/edit-file.ts",
  "tools/edit/unified-diff.ts",
  "tools/edit/write-file.ts",
  "infrastructure/fs/write.ts",
  "infrastructure/process/process.ts",
];

test("evaluating, changing and comparing commands is not loaded before the first request", () => {
  const loaded = loadedFiles("faces/run.ts");
  expect(loaded.has("approval/policy.ts")).toBe(true);
  expect(LATER.filter((file) => !existsSync(join(import.meta.dir, "..", "..", "src", file)))).toEqual([]);
  expect(LATER.filter((file) => loaded.has(file))).toEqual([]);
});
