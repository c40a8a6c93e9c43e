/**
 * Run as a process of its own: exchanges a directory and a link, the first two arguments, in one step, as fast as it can,
 * until it is ended, at the latest after half a minute.
 */
import { dlopen, FFIType } from "bun:ffi";
import { writeSync } from "node:fs";

const FROM_HERE = -100; // AT_FDCWD
const EXCHANGE = 2; // RENAME_EXCHANGE
const MAX_PAUSE_MS = 0.4;

const { ptr, i32, u32 } = FFIType;
const { symbols } = dlopen("libc.so.6", {
  renameat2: { args: [i32, ptr, i32, ptr, u32], returns: i32 },
});

const [directory, link] = process.argv.slice(2).map((path) => Buffer.from(`${path}\0`));
if (!directory || !link) throw new Error("It needs a directory and a link.");
const exchange = () => symbols.renameat2(FROM_HERE, directory, FROM_HERE, link, EXCHANGE);
if (exchange() !== 0) throw new Error("This system cannot exchange them.");
writeSync(1, "swapping\n");
const end = performance.now() + 30_000;
while (performance.now() < end) {
  exchange();
  // About as long as a call takes, so that every moment of one is met.
  const next = performance.now() + Math.random() * MAX_PAUSE_MS;
  while (performance.now() < next);
}
