import { readSessionFile } from "@diligent/core/sessions";

// A separate process, so that nothing else changes its heap meanwhile: it reads the session file named in its
// argument and prints how many megabytes the entries take.

const [path = ""] = process.argv.slice(2);
// Once for what reading itself compiles and keeps.
readSessionFile(path);
const before = collectedMegabytes();
const { entries } = readSessionFile(path);
const megabytes = collectedMegabytes() - before;
// Used after the measurement, so that they are still in memory then.
console.log(entries.length === 0 ? 0 : megabytes);

/** The smallest of a few: a value left on the stack may keep others alive. */
function collectedMegabytes(): number {
  const attempts = Array.from({ length: 4 }, () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed / 1024 / 1024;
  });
  return Math.min(...attempts);
}
