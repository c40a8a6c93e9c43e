import { readSessionFile } from "@diligent/core/sessions";

// A process of its own, so that nothing else changes its heap meanwhile: it reads the session file that is named in its
// argument and prints how many megabytes the entries take.

const [path = ""] = process.argv.slice(2);
// Once for what the reading itself compiles and keeps.
readSessionFile(path);
const before = collectedMegabytes();
const { entries } = readSessionFile(path);
const megabytes = collectedMegabytes() - before;
// Asked for behind the measuring, so that they are still there then.
console.log(entries.length === 0 ? 0 : megabytes);

/** The smallest of a few: what a value has left on the stack may keep others alive. */
function collectedMegabytes(): number {
  const attempts = Array.from({ length: 4 }, () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed / 1024 / 1024;
  });
  return Math.min(...attempts);
}
