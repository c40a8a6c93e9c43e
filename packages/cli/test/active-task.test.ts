import { expect, test } from "bun:test";
import { ActiveTask } from "../src/session/conversation.ts";

/** A task with what its observer was told. */
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

test("ActiveTask has nothing to stop or to wait for while it is idle", async () => {
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

test("ActiveTask starts a task at once, stops it by its signal, and resolves stop() when it has ended", async () => {
  const { work, told } = watch();
  const begun = work.begin("a run", untilAborted);
  expect([work.what, work.isStopped]).toEqual(["a run", false]);
  const stopped = work.stop();
  expect([work.what, work.isStopped]).toEqual(["a run", true]);
  await stopped;
  expect([work.what, work.isStopped, told]).toEqual([undefined, false, ["ended: undefined"]]);
  await begun;
});

test("ActiveTask refuses a second task and leaves the first one alone", async () => {
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

test("ActiveTask reports an error before the end, and start() does not reject", async () => {
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

test("ActiveTask lets queued work start at the end, and stop() does not wait for it", async () => {
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
