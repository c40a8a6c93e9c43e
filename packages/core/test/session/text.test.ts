import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { readSessionText } from "../../src/session/list.ts";
import { assistant, result, text, user } from "../support/messages.ts";
import { entry, header, toLines, writeSession, writeSessionFile } from "../support/session-files.ts";

const ALL = { maxCharacters: 1_000_000 };

test("the text of a session is what was said in it, on all branches, and no result of a tool", async () => {
  const path = writeSession([
    entry("a", null, user("first prompt")),
    entry("b", "a", assistant([text("first answer"), { type: "thinking", thinking: "secret thoughts" }])),
    entry("c", "b", result("call_1", "tool output")),
    entry("d", "a", user("on another branch")),
  ]);
  expect(await readSessionText(path, ALL)).toBe("first prompt\nfirst answer\non another branch");
});

test("long results are skipped and long prompts are read completely", async () => {
  const long = `${"x".repeat(600_000)} needle`;
  const path = writeSession([
    entry("a", null, result("call_1", "y".repeat(2_000_000))),
    entry("b", "a", user(long)),
  ]);
  expect(await readSessionText(path, ALL)).toBe(long);
});

test("no more is read than is wanted", async () => {
  const path = writeSession(["one", "two", "three"].map((word) => entry(word, null, user(word))));
  expect(await readSessionText(path, { maxCharacters: 5 })).toBe("one\nt");
  expect(await readSessionText(path, { ...ALL, signal: AbortSignal.abort() })).toBe("");
});

test("damaged lines and files that are none give no text and no error", async () => {
  const path = writeSessionFile(`${toLines([header()])}{"type":"message","id":"a","mess\n\0\0\n`);
  expect(await readSessionText(path, ALL)).toBe("");
  expect(await readSessionText("/nowhere/at/all.jsonl", ALL)).toBe("");
  expect(await readSessionText("/tmp", ALL)).toBe("");
});

test("a file that another program has written, with spaces and its members in another order, is searched too", async () => {
  const path = writeSession([]);
  const message = { role: "user", content: "needle", timestamp: 1 };
  const line = JSON.stringify(
    { id: "a", timestamp: new Date(1).toISOString(), parentId: null, type: "message", message },
    null,
    1,
  );
  appendFileSync(path, `${line.replaceAll("\n", " ")}\n`);
  expect(await readSessionText(path, ALL)).toBe("needle");
});
