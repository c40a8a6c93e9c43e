import { expect, test } from "bun:test";
import { closeSync, writeSync } from "node:fs";
import { hasUnreadBytes, openOutputPipe } from "../../src/infrastructure/process/output-pipe.ts";
import { OutputReader } from "../../src/infrastructure/process/output-reader.ts";
import { testUnless } from "../support/test-unless.ts";

const obstacle = process.platform === "linux" ? undefined : "needs Linux";

testUnless(obstacle)("bytes in a pipe are unread until they are read", async () => {
  const pipe = await openOutputPipe();
  if (pipe === undefined) throw new Error("There is no pipe.");
  const { readEnd, writeEnd } = pipe;
  expect(hasUnreadBytes(readEnd)).toBe(false);
  writeSync(writeEnd, "late\n");
  expect(hasUnreadBytes(readEnd)).toBe(true);
  const reader = Bun.file(readEnd).stream().getReader();
  await reader.read();
  expect(hasUnreadBytes(readEnd)).toBe(false);
  closeSync(writeEnd);
  closeSync(readEnd);
});

test("settle() waits for output that is in the pipe, although a background child holds it open", async () => {
  let isUnread = true;
  const output = new ReadableStream<Uint8Array>({
    async start(controller) {
      // As on a machine where the turn of the event loop that reads it comes late.
      await Bun.sleep(100);
      isUnread = false;
      controller.enqueue(new TextEncoder().encode("late\n"));
    },
  });
  let text = "";
  const child = { outputs: [output], hasUnreadOutput: () => isUnread, closeOutputs() {} };
  const reader = new OutputReader(child, (chunk) => {
    text += new TextDecoder().decode(chunk);
  });
  expect(await reader.settle()).toBe(false);
  expect(text).toBe("late\n");
});
