import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const CHUNK_BYTES = 4096;

/**
 * What was typed in the terminal behind a descriptor and is not read yet; it does not wait for more. Before the kernel
 * says that nothing is there, it takes over everything that was written to the terminal until then, so what was typed
 * before a signal is never missed. Undefined where the system offers no second way to the terminal.
 */
export function readTyped(descriptor: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  // In the background, reading would stop the process.
  if (isInBackground()) return "";
  const decoder = new StringDecoder("utf8");
  let text = "";
  let terminal: number | undefined;
  try {
    // A descriptor of its own does not wait, and the one that others share still does.
    terminal = openSync(`/proc/self/fd/${descriptor}`, FLAGS);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let length = 1; length > 0; text += decoder.write(chunk.subarray(0, length)))
      length = readSync(terminal, chunk, 0, chunk.length, null);
  } catch {
    // Nothing is left, or the terminal is gone.
  } finally {
    if (terminal !== undefined) closeSync(terminal);
  }
  return text + decoder.end();
}

// The fields of /proc/self/stat behind the name: the process group, and the one that has the terminal.
const GROUP = 2;
const GROUP_OF_TERMINAL = 5;

function isInBackground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const owner = Number(fields[GROUP_OF_TERMINAL]);
    return owner > 0 && owner !== Number(fields[GROUP]);
  } catch {
    return true;
  }
}
