import { expect, test } from "bun:test";
import { DraftKeeper } from "../src/tui/editor/draft.ts";

function setUp({ pauseMs = 30, kept }: { pauseMs?: number; kept?: string } = {}) {
  const calls: string[] = [];
  const store = {
    takeOver: () => kept,
    write: (text: string) => void calls.push(`write ${text}`),
    remove: () => void calls.push("remove"),
  };
  return { keeper: new DraftKeeper(store, pauseMs), calls };
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

test("a draft that was left behind is given back", () => {
  expect(setUp({ kept: "left" }).keeper.restore()).toBe("left");
  expect(setUp().keeper.restore()).toBeUndefined();
});

test("a program that is killed loses no more than what was written in the last 300 ms", async () => {
  const calls: string[] = [];
  const keeper = new DraftKeeper({
    takeOver: () => undefined,
    write: (text) => void calls.push(text),
    remove() {},
  });
  for (const text of ["a", "ab"]) keeper.change(text);
  await wait(400);
  expect(calls).toEqual(["a", "ab"]);
  keeper.sent();
});
