import { expect, test } from "bun:test";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { watchSignals } from "../src/print/print.ts";
import { FakeIo } from "./support/fake-io.ts";

async function isSettled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), Bun.sleep(1).then(() => false)]);
}

test("the first signal asks the run to stop, the second ends the wait", async () => {
  const io = new FakeIo();
  const watch = watchSignals(io);
  expect([watch.received, watch.stop.aborted]).toEqual([undefined, false]);
  io.send("SIGINT");
  expect([watch.received, watch.stop.aborted, await isSettled(watch.expired)]).toEqual([
    "SIGINT",
    true,
    false,
  ]);
  io.send("SIGTERM");
  expect([watch.received, await isSettled(watch.expired)]).toEqual(["SIGINT", true]);
});

test("after the second signal the program ends even if something hangs, with the first one's code", async () => {
  const io = new FakeIo();
  const watch = watchSignals(io);
  io.send("SIGTERM");
  io.send("SIGINT");
  watch.dispose();
  await Bun.sleep(500);
  expect(io.exits).toEqual([143]);
});

test("a run that does not stop is waited for less than two seconds in total", async () => {
  const io = new FakeIo();
  const watch = watchSignals(io);
  const startedAt = performance.now();
  io.send("SIGHUP");
  await watch.expired;
  while (io.exits.length === 0) await Bun.sleep(10);
  expect(io.exits).toEqual([129]);
  expect(performance.now() - startedAt).toBeLessThan(1900 + BUSY_MS);
});

test("after dispose() signals are no longer handled", () => {
  const io = new FakeIo();
  watchSignals(io).dispose();
  expect(io.listenerCount).toBe(0);
});
