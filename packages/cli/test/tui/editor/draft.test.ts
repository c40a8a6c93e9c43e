import { expect, test } from "bun:test";
import { DraftSaver } from "../../../src/tui/editor/draft.ts";

function setUp({ pauseMs = 30, kept }: { pauseMs?: number; kept?: string } = {}) {
  const calls: string[] = [];
  const store = {
    takeOver: () => kept,
    write: (text: string) => void calls.push(`write ${text}`),
    remove: () => void calls.push("remove"),
  };
  return { keeper: new DraftSaver(() => store, pauseMs), calls };
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("the first change is kept at once, and of those in the pause after it only the last", async () => {
  const { keeper, calls } = setUp();
  for (const text of ["a", "ab", "abc"]) keeper.change(text);
  expect(calls).toEqual(["write a"]);
  await wait(60);
  expect(calls).toEqual(["write a", "write abc"]);
  await wait(60);
  keeper.change("abcd");
  expect(calls).toEqual(["write a", "write abc", "write abcd"]);
});

test("what was changed last is kept on exit", () => {
  const { keeper, calls } = setUp({ pauseMs: 10_000 });
  keeper.change("a");
  keeper.change("ab");
  keeper.flush();
  keeper.flush();
  expect(calls).toEqual(["write a", "write ab"]);
});

test("a prompt that was sent is not kept, nor anything that was still to be written", async () => {
  const { keeper, calls } = setUp();
  keeper.change("a");
  keeper.change("ab");
  keeper.sent();
  await wait(60);
  keeper.flush();
  expect(calls).toEqual(["write a", "remove"]);
});

test("a draft that was left behind is given back when the session is opened, once", () => {
  const { keeper } = setUp({ kept: "left" });
  const session = { sessionId: "one", leafId: "a" };
  expect([keeper.open(session), keeper.open({ ...session })]).toEqual(["left", undefined]);
  expect(setUp().keeper.open(session)).toBeUndefined();
});

test("a draft belongs to the session it is written in, and to no session before anything was said", () => {
  const calls: string[] = [];
  const keeper = new DraftSaver(
    (sessionId = "none") => ({
      takeOver: () => void calls.push(`take ${sessionId}`),
      write: (text) => void calls.push(`write ${sessionId} ${text}`),
      remove: () => void calls.push(`remove ${sessionId}`),
    }),
    0,
  );
  const session: { sessionId: string; leafId: string | null } = { sessionId: "one", leafId: null };
  keeper.change("a");
  keeper.open(session);
  keeper.sent();
  session.leafId = "00000001";
  keeper.change("b");
  keeper.flush();
  keeper.open({ sessionId: "two", leafId: "00000001" });
  keeper.change("bc");
  keeper.flush();
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
  const keeper = new DraftSaver(() => ({
    takeOver: () => undefined,
    write: (text) => void calls.push(text),
    remove() {},
  }));
  for (const text of ["a", "ab"]) keeper.change(text);
  await wait(400);
  expect(calls).toEqual(["a", "ab"]);
  keeper.sent();
});
