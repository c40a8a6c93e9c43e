import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { summarizeSession } from "../../src/session/list.ts";
import { continueSession, forkSession, readConversation } from "../../src/session/open.ts";
import { readSessionFile } from "../../src/session/read-file.ts";
import { branchSummary, compaction, inLine, prune } from "../support/context-entries.ts";
import { assistant, call, result, text, user } from "../support/messages.ts";
import {
  chain,
  entry,
  entryId,
  header,
  readJsonLines,
  STAMP,
  writeSession,
} from "../support/session-files.ts";

const LATER = "2026-02-25T12:00:00.000Z";
const long = "x".repeat(9000);

/** Two compactions, a prune, a summary of another branch, and turns between them. */
const entries = inLine(
  ...chain(4),
  compaction("c0000001", null, { firstKeptEntryId: entryId(2) }),
  entry("b0000001", null, "read it"),
  entry("b0000002", null, assistant([call("r")])),
  entry("b0000003", null, result("r", long)),
  entry("b0000004", null, assistant([text("read")])),
  prune("d0000001", null, { trimmed: ["b0000003"] }),
  compaction("c0000002", null, { firstKeptEntryId: "b0000001", pinnedTokens: 100 }),
  branchSummary("e0000001", null, "went wrong"),
  entry("b0000005", null, "go on"),
);

function open(path: string) {
  return continueSession({ cwd: "/work", sessionsDir: dirname(path) }, readSessionFile(path));
}

test("a compacted session that is reopened continues with the same context, after the entries in its file", () => {
  const path = writeSession(entries);
  const before = readFileSync(path, "utf8");
  const { log, writer } = open(path);
  expect(buildSessionContext(log.entries, log.leafId)).toEqual(buildSessionContext(entries));
  const added = log.append((place) => ({ type: "message", ...place, message: user("more") }));
  writer?.close();
  expect(added.parentId).toBe("b0000005");
  expect(readFileSync(path, "utf8")).toBe(`${before}${JSON.stringify(added)}\n`);
});

test("a session whose last entry is a compaction or a prune continues after it", () => {
  for (const length of [5, 10, 11, 12]) {
    const { log, writer } = open(writeSession(entries.slice(0, length)));
    expect(log.leafId).toBe(entries[length - 1]?.id ?? "none");
    expect(buildSessionContext(log.entries, log.leafId)).toEqual(
      buildSessionContext(entries.slice(0, length)),
    );
    writer?.close();
  }
});

test("a fork holds all of its branch, what was summarised too, and has the same context", () => {
  const source = open(writeSession(entries));
  const place = { cwd: "/work", sessionsDir: dirname(writeSession([])) };
  const whole = forkSession(place, source);
  const [head, ...copies] = readJsonLines(whole.writer?.path ?? "");
  expect(head).toMatchObject({ version: 2, parentSession: header().id });
  expect(copies).toEqual(entries);
  expect(readConversation({ entries: whole.log.entries })).toEqual(readConversation({ entries }));
  for (const at of ["b0000001", "c0000001", entryId(1)]) {
    const { log, writer } = forkSession(place, source, { atEntryId: at });
    const read = readSessionFile(writer?.path ?? "");
    expect(log.leafId).toBe(at);
    expect(readConversation(read).messages).toEqual(buildSessionContext(entries, at).messages);
    writer?.close();
  }
  whole.writer?.close();
  source.writer?.close();
});

test("a file of version 1 can be opened, continued, compacted and forked, and its first line stays", () => {
  const path = writeSession(chain(6), { version: 1 });
  const before = readFileSync(path, "utf8");
  const session = open(path);
  expect(session.header.version).toBe(1);
  session.log.append((place) => ({ ...compaction("", null, { firstKeptEntryId: entryId(4) }), ...place }));
  session.log.append((place) => ({ type: "message", ...place, message: user("on") }));
  session.writer?.close();
  expect(readFileSync(path, "utf8")).toStartWith(before);
  const again = open(path);
  const { messages } = buildSessionContext(again.log.entries, again.log.leafId);
  expect(messages.slice(1)).toEqual([
    ...chain(6)
      .slice(4)
      .map(({ message }) => message),
    user("on"),
  ]);
  const fork = forkSession({ cwd: "/work", sessionsDir: dirname(path) }, again);
  expect(readSessionFile(fork.writer?.path ?? "").header).toMatchObject({
    version: 2,
    parentSession: header().id,
  });
  fork.writer?.close();
});

test("a list counts the messages of a compacted session, and takes its summaries for none", () => {
  const huge = compaction("c0000003", "b0000005", {
    firstKeptEntryId: "b0000005",
    summary: `{"type":"message","id":"00000000","parentId":null} ${"y".repeat(600_000)}`,
    timestamp: LATER,
  });
  const path = writeSession([...entries, huge]);
  expect(summarizeSession(path)).toEqual({
    id: header().id,
    path,
    cwd: "/work",
    created: new Date(STAMP),
    modified: new Date(LATER),
    messageCount: 9,
    firstUserMessage: "question 0",
  });
});
