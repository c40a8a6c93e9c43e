import { afterEach, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { hasLostReader, openOutputPipe } from "../../src/infrastructure/process/output-pipe.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const open = new Set<number>();

afterEach(() => {
  for (const descriptor of open) closeSync(descriptor);
  open.clear();
});

function close(descriptor: number): void {
  open.delete(descriptor);
  closeSync(descriptor);
}

test.if(process.platform === "linux")("a pipe has lost its reader once the other end is closed", async () => {
  const pipe = await openOutputPipe();
  if (pipe === undefined) throw new Error("There are no pipes.");
  for (const descriptor of [pipe.readEnd, pipe.writeEnd]) open.add(descriptor);
  expect(await hasLostReader(pipe.writeEnd)).toBe(false);
  close(pipe.readEnd);
  expect(await hasLostReader(pipe.writeEnd)).toBe(true);
});

test("a file, a device and an invalid descriptor have lost no reader", async () => {
  const paths = [join(makeTempDir(), "file"), "/dev/null"];
  for (const path of paths) {
    const descriptor = openSync(path, "w");
    open.add(descriptor);
    expect(await hasLostReader(descriptor)).toBe(false);
  }
  expect(await hasLostReader(1_000_000)).toBe(false);
});
