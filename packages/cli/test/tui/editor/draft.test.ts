import { expect, test } from "bun:test";
import { SecretRedactor } from "@diligent/core/run";
import { DraftSaver } from "../../../src/tui/editor/draft.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const redactor = new SecretRedactor([{ value: KEY, placeholder: "[key of anthropic]" }]);

function setUp({ pauseMs = 30, kept }: { pauseMs?: number; kept?: string } = {}) {
  const calls: string[] = [];
  const store = {
    takeOver: () => kept,
    write: (text: string) => void calls.push(`write ${text}`),
    remove: () => void calls.push("remove"),
  };
  const loading = Promise.withResolvers<SecretRedactor>();
  const saver = new DraftSaver({ createStore: () => store, loadRedactor: () => loading.promise, pauseMs });
  return { saver, calls, load: () => loading.resolve(redactor) };
}

/** With an open session, to which a saver writes at once. */
function setUpOpen(options: { pauseMs?: number } = {}) {
  const parts = setUp(options);
  parts.saver.open({ sessionId: "one", leafId: "a" }, redactor);
  return parts;
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("DraftSaver saves the first change at once, and only the last of those in the following pause", async () => {
  const { saver, calls } = setUpOpen();
  for (const text of ["a", "ab", "abc"]) saver.change(text);
  expect(calls).toEqual(["write a"]);
  await wait(60);
  expect(calls).toEqual(["write a", "write abc"]);
  await wait(60);
  saver.change("abcd");
  expect(calls).toEqual(["write a", "write abc", "write abcd"]);
});

test("DraftSaver saves the last change on exit", async () => {
  const { saver, calls } = setUpOpen({ pauseMs: 10_000 });
  saver.change("a");
  saver.change("ab");
  await saver.flush();
  await saver.flush();
  expect(calls).toEqual(["write a", "write ab"]);
});

test("DraftSaver deletes the draft of a sent prompt, including changes not saved yet", async () => {
  const { saver, calls } = setUpOpen();
  saver.change("a");
  saver.change("ab");
  saver.sent();
  await wait(60);
  await saver.flush();
  expect(calls).toEqual(["write a", "remove"]);
});

test("DraftSaver writes nothing before a session is open until the secrets to mask are known", async () => {
  const { saver, calls, load } = setUp();
  saver.change(`use ${KEY}`);
  saver.change(`use ${KEY} now`);
  await wait(60);
  expect(calls).toEqual([]);
  load();
  await wait(1);
  expect(calls).toEqual(["write use [key of anthropic] now"]);
});

test("DraftSaver writes the text without its secrets if the program exits before a session is open", async () => {
  const { saver, calls, load } = setUp();
  saver.change(`use ${KEY}`);
  const flushed = saver.flush();
  load();
  await flushed;
  expect(calls).toEqual(["write use [key of anthropic]"]);
});

test("DraftSaver does not keep a prompt that was sent before the secrets were known", async () => {
  const { saver, calls, load } = setUp();
  saver.change("a");
  saver.sent();
  load();
  await wait(60);
  expect(calls).toEqual(["remove"]);
});

test("DraftSaver returns a remaining draft once, when the session is opened", () => {
  const { saver } = setUp({ kept: "left" });
  const session = { sessionId: "one", leafId: "a" };
  expect([saver.open(session, redactor), saver.open({ ...session }, redactor)]).toEqual(["left", undefined]);
  expect(setUp().saver.open(session, redactor)).toBeUndefined();
});

test("DraftSaver masks a key of a remaining draft in what it returns and in what it keeps", () => {
  const { saver, calls } = setUp({ kept: `is ${KEY} right?` });
  expect(saver.open({ sessionId: "one", leafId: "a" }, redactor)).toBe("is [key of anthropic] right?");
  expect(calls).toEqual(["write is [key of anthropic] right?"]);
});

test("DraftSaver assigns a draft to its session, and to none before its first message", async () => {
  const calls: string[] = [];
  const saver = new DraftSaver({
    createStore: (sessionId = "none") => ({
      takeOver: () => void calls.push(`take ${sessionId}`),
      write: (text) => void calls.push(`write ${sessionId} ${text}`),
      remove: () => void calls.push(`remove ${sessionId}`),
    }),
    loadRedactor: async () => redactor,
    pauseMs: 0,
  });
  const session: { sessionId: string; leafId: string | null } = { sessionId: "one", leafId: null };
  saver.change("a");
  await saver.flush();
  saver.open(session, redactor);
  saver.sent();
  session.leafId = "00000001";
  saver.change("b");
  await saver.flush();
  saver.open({ sessionId: "two", leafId: "00000001" }, redactor);
  saver.change("bc");
  await saver.flush();
  expect(calls).toEqual([
    "write none a",
    "take none",
    "remove none",
    "remove none",
    "write one b",
    "take two",
    "remove one",
    "write two bc",
  ]);
});

test("DraftSaver loses at most the last 300 ms of a killed program", async () => {
  const calls: string[] = [];
  const saver = new DraftSaver({
    createStore: () => ({
      takeOver: () => undefined,
      write: (text) => void calls.push(text),
      remove() {},
    }),
    loadRedactor: async () => redactor,
  });
  for (const text of ["a", "ab"]) saver.change(text);
  await wait(400);
  expect(calls).toEqual(["ab"]);
  saver.change("abc");
  await wait(400);
  expect(calls).toEqual(["ab", "abc"]);
  saver.sent();
});
