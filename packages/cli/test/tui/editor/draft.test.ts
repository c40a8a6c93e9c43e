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

test("the first change is kept at once, and of those in the pause after it only the last", async () => {
  const { saver, calls } = setUpOpen();
  for (const text of ["a", "ab", "abc"]) saver.change(text);
  expect(calls).toEqual(["write a"]);
  await wait(60);
  expect(calls).toEqual(["write a", "write abc"]);
  await wait(60);
  saver.change("abcd");
  expect(calls).toEqual(["write a", "write abc", "write abcd"]);
});

test("what was changed last is kept on exit", async () => {
  const { saver, calls } = setUpOpen({ pauseMs: 10_000 });
  saver.change("a");
  saver.change("ab");
  await saver.flush();
  await saver.flush();
  expect(calls).toEqual(["write a", "write ab"]);
});

test("a prompt that was sent is not kept, nor anything that was still to be written", async () => {
  const { saver, calls } = setUpOpen();
  saver.change("a");
  saver.change("ab");
  saver.sent();
  await wait(60);
  await saver.flush();
  expect(calls).toEqual(["write a", "remove"]);
});

test("before a session is open nothing is written until the secrets to mask are known", async () => {
  const { saver, calls, load } = setUp();
  saver.change(`use ${KEY}`);
  saver.change(`use ${KEY} now`);
  await wait(60);
  expect(calls).toEqual([]);
  load();
  await wait(1);
  expect(calls).toEqual(["write use [key of anthropic] now"]);
});

test("on exit before a session was open, what was written is kept without its secrets", async () => {
  const { saver, calls, load } = setUp();
  saver.change(`use ${KEY}`);
  const flushed = saver.flush();
  load();
  await flushed;
  expect(calls).toEqual(["write use [key of anthropic]"]);
});

test("a prompt that was sent before the secrets were known is not kept", async () => {
  const { saver, calls, load } = setUp();
  saver.change("a");
  saver.sent();
  load();
  await wait(60);
  expect(calls).toEqual(["remove"]);
});

test("a draft that was left behind is given back when the session is opened, once", () => {
  const { saver } = setUp({ kept: "left" });
  const session = { sessionId: "one", leafId: "a" };
  expect([saver.open(session, redactor), saver.open({ ...session }, redactor)]).toEqual(["left", undefined]);
  expect(setUp().saver.open(session, redactor)).toBeUndefined();
});

test("a key in a draft that was left behind is masked in what is given back and in what stays kept", () => {
  const { saver, calls } = setUp({ kept: `is ${KEY} right?` });
  expect(saver.open({ sessionId: "one", leafId: "a" }, redactor)).toBe("is [key of anthropic] right?");
  expect(calls).toEqual(["write is [key of anthropic] right?"]);
});

test("a draft belongs to the session it is written in, and to no session before anything was said", async () => {
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

test("a program that is killed loses no more than what was written in the last 300 ms", async () => {
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
