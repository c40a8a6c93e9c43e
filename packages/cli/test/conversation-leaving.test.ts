import { expect, test } from "bun:test";
import { Shutdown } from "../src/session/conversation.ts";

const NEVER = new Promise<void>(() => {});

/** How a conversation is left, and with which code the program is ended at once where something hangs. */
function watch({ stopped = NEVER, isStopped = false } = {}): { leaving: Shutdown; exited: Promise<number> } {
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
  const leaving = new Shutdown({ stop: () => stopped, isStopped: () => isStopped, exit });
  return { leaving, exited };
}

test("whoever leaves gets their exit code once what goes on has ended", async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const { leaving } = watch({ stopped });
  expect(leaving.isShuttingDown).toBe(false);
  leaving.leave(129);
  expect(leaving.isShuttingDown).toBe(true);
  stop();
  expect(await leaving.code).toBe(129);
});

test("whoever asks twice waits for nothing that does not want to end", async () => {
  const { leaving } = watch();
  leaving.leave(143);
  leaving.leave(130);
  expect(await leaving.code).toBe(130);
});

test("there is as little patience where what goes on was stopped before", async () => {
  const { leaving: patient } = watch();
  const { leaving: impatient } = watch({ isStopped: true });
  patient.leave(1);
  impatient.leave(130);
  expect(await Promise.race([patient.code, impatient.code])).toBe(130);
});

test("the program is ended with that code where what is closed afterwards hangs", async () => {
  const { leaving, exited } = watch({ isStopped: true });
  leaving.leave(129);
  expect(await exited).toBe(129);
});

test("a conversation that cannot go on ends with its error", async () => {
  const { leaving } = watch();
  leaving.fail(new Error("The input cannot be read."));
  await expect(leaving.code).rejects.toThrow("The input cannot be read.");
});
