import { expect, test } from "bun:test";
import { Leaving } from "../src/conversation/leaving.ts";

const NEVER = new Promise<void>(() => {});

test("whoever leaves gets their exit code once what goes on has ended", async () => {
  const stopped = Promise.withResolvers<void>();
  const leaving = new Leaving({ stop: () => stopped.promise, isStopped: () => false, exit() {} });
  expect(leaving.isLeaving).toBe(false);
  leaving.leave(129);
  expect(leaving.isLeaving).toBe(true);
  stopped.resolve();
  expect(await leaving.code).toBe(129);
});

test("whoever asks twice waits for nothing that does not want to end", async () => {
  const leaving = new Leaving({ stop: () => NEVER, isStopped: () => false, exit() {} });
  leaving.leave(143);
  leaving.leave(130);
  expect(await leaving.code).toBe(130);
});

test("there is as little patience where what goes on was stopped before", async () => {
  const patient = new Leaving({ stop: () => NEVER, isStopped: () => false, exit() {} });
  const impatient = new Leaving({ stop: () => NEVER, isStopped: () => true, exit() {} });
  patient.leave(1);
  impatient.leave(130);
  expect(await Promise.race([patient.code, impatient.code])).toBe(130);
});

test("a conversation that cannot go on ends with its error", async () => {
  const leaving = new Leaving({ stop: () => NEVER, isStopped: () => false, exit() {} });
  leaving.fail(new Error("The input cannot be read."));
  await expect(leaving.code).rejects.toThrow("The input cannot be read.");
});
