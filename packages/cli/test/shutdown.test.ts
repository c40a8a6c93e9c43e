import { expect, test } from "bun:test";
import { Shutdown } from "../src/session/conversation.ts";

const NEVER = new Promise<void>(() => {});

/** A shutdown, and the exit code if a hanging part forces it. */
function watch({ stopped = NEVER, isStopped = false } = {}): { leaving: Shutdown; exited: Promise<number> } {
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
  const leaving = new Shutdown({ stop: () => stopped, isStopped: () => isStopped, exit });
  return { leaving, exited };
}

test("shutdown resolves with the exit code once the task has ended", async () => {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const { leaving } = watch({ stopped });
  expect(leaving.isShuttingDown).toBe(false);
  leaving.leave(129);
  expect(leaving.isShuttingDown).toBe(true);
  stop();
  expect(await leaving.code).toBe(129);
});

test("a second request for shutdown does not wait for a task that does not end", async () => {
  const { leaving } = watch();
  leaving.leave(143);
  leaving.leave(130);
  expect(await leaving.code).toBe(130);
});

test("shutdown waits only briefly for a task that was stopped before", async () => {
  const { leaving: patient } = watch();
  const { leaving: impatient } = watch({ isStopped: true });
  patient.leave(1);
  impatient.leave(130);
  expect(await Promise.race([patient.code, impatient.code])).toBe(130);
});

test("shutdown forces the exit with that code if a cleanup hangs", async () => {
  const { leaving, exited } = watch({ isStopped: true });
  leaving.leave(129);
  expect(await exited).toBe(129);
});

test("shutdown rejects with the error of a conversation that cannot continue", async () => {
  const { leaving } = watch();
  leaving.fail(new Error("The input cannot be read."));
  await expect(leaving.code).rejects.toThrow("The input cannot be read.");
});
