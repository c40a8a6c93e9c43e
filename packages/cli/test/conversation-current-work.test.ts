import { expect, test } from "bun:test";
import { ActiveTask } from "../src/session/conversation.ts";

/** Work with what its listener was told. */
function watch(): { work: ActiveTask<string>; told: string[] } {
  const told: string[] = [];
  const work: ActiveTask<string> = new ActiveTask({
    failed: (error) => told.push(`failed: ${error instanceof Error ? error.message : error}`),
    ended: () => told.push(`ended: ${work.what}`),
  });
  return { work, told };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

test("while nothing goes on there is nothing to stop or to wait for", async () => {
  const { work, told } = watch();
  await work.stop();
  expect([work.what, work.signal, work.ended, work.isStopped, told]).toEqual([
    undefined,
    undefined,
    undefined,
    false,
    [],
  ]);
});

test("work begins at once, is stopped by its signal, and has ended when stopping has", async () => {
  const { work, told } = watch();
  const begun = work.begin("a run", untilAborted);
  expect([work.what, work.isStopped]).toEqual(["a run", false]);
  const stopped = work.stop();
  expect([work.what, work.isStopped]).toEqual(["a run", true]);
  await stopped;
  expect([work.what, work.isStopped, told]).toEqual([undefined, false, ["ended: undefined"]]);
  await begun;
});

test("nothing begins while something goes on, which is left alone", async () => {
  const { work, told } = watch();
  const begun = work.begin("a run", untilAborted);
  await expect(work.begin("another", async () => void told.push("begun"))).rejects.toThrow(
    "Another task is already running.",
  );
  expect([work.what, work.isStopped, told]).toEqual(["a run", false, []]);
  await work.stop();
  await begun;
  expect(told).toEqual(["ended: undefined"]);
});

test("what work throws is told before its end, and whoever began it is not disturbed", async () => {
  const { work, told } = watch();
  await work.begin("a run", async () => {
    throw new Error("no network");
  });
  await work.begin("another", () => {
    throw new Error("not even begun");
  });
  expect(told).toEqual([
    "failed: no network",
    "ended: undefined",
    "failed: not even begun",
    "ended: undefined",
  ]);
});

test("what waited for an end may begin there, and whoever stopped the first does not wait for it", async () => {
  let next: Promise<void> | undefined;
  const work: ActiveTask<string> = new ActiveTask({
    failed() {},
    ended() {
      next ??= work.begin("the next", untilAborted);
    },
  });
  void work.begin("the first", untilAborted);
  await work.stop();
  expect([work.what, work.isStopped]).toEqual(["the next", false]);
  await work.stop();
  await next;
  expect(work.what).toBeUndefined();
});
