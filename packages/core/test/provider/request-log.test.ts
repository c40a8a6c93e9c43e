import { expect, test } from "bun:test";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openRequestLog } from "../../src/infrastructure/fs/state-files.ts";
import { type RequestLogEntry, withRequestLog } from "../../src/provider/request-log.ts";
import { withRetry } from "../../src/provider/retry.ts";
import { createScriptedStream } from "../../src/provider/scripted.ts";
import { runScript } from "../support/agent-run.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("each request is logged with its result, retries included", async () => {
  const entries: RequestLogEntry[] = [];
  const failing = { error: { errorType: "overloaded" as const, message: "busy", retryAfterMs: 0 } };
  const scripted = createScriptedStream({ version: 1, turns: [failing, { text: "Here." }] });
  const logged = withRequestLog(scripted, (entry) => entries.push(structuredClone(entry)));
  await runScript([], { streamFunction: withRetry(logged, { sleep: async () => {} }) });
  expect(entries.map(({ type, number }) => [type, number])).toEqual([
    ["request", 1],
    ["failure", 1],
    ["request", 2],
    ["answer", 2],
  ]);
  expect(entries[0]).toMatchObject({ systemPrompt: "Test.", messages: [{ role: "user", content: "go" }] });
  expect(entries[1]).toMatchObject({ error: { errorType: "overloaded", message: "busy", retryAfterMs: 0 } });
  expect(entries[3]).toMatchObject({ message: { content: [{ type: "text", text: "Here." }] } });
});

test("the log is private, one JSON object per line, and old ones are removed", () => {
  const environment = { XDG_STATE_HOME: makeTempDir() };
  const first = openRequestLog(environment, "old");
  first.write({ a: 1 });
  first.close();
  const longAgo = Date.now() / 1000 - 31 * 24 * 3600;
  utimesSync(first.path, longAgo, longAgo);
  writeFileSync(join(dirname(first.path), "notes.txt"), "kept");
  const log = openRequestLog(environment, "new");
  log.write({ text: "two\nlines" });
  log.write({ b: 2 });
  log.close();
  expect(readFileSync(log.path, "utf8")).toBe('{"text":"two\\nlines"}\n{"b":2}\n');
  expect([statSync(log.path).mode & 0o777, statSync(dirname(log.path)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(statSync(first.path, { throwIfNoEntry: false })).toBeUndefined();
  expect(readFileSync(join(dirname(first.path), "notes.txt"), "utf8")).toBe("kept");
});

test("without a home directory it reports an error, and a log that cannot be written stops nothing", () => {
  expect(() => openRequestLog({ HOME: "/" }, "a")).toThrow("no home directory");
  const log = openRequestLog({ XDG_STATE_HOME: makeTempDir() }, "missing/directory");
  log.write({ a: 1 });
  log.close();
});
