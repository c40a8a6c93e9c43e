import { closeSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemErrorCode } from "../system-error.ts";
import type { OutputPiece } from "./output-file.ts";

const MAX_BYTES = 100 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
// What one call of `dd` copies at most: a part may exceed its size by this.
const STEP_BYTES = 16 * PIECE_BYTES;

/**
 * Copies its input to the file `$1`, and what is more than `$2` bytes to further files of `$3` bytes, of which the last
 * two are kept; their names end in their position in the whole. `dd` writes what a single read returns at once. Without
 * space on the disk the rest is read and dropped: the command must not wait for it.
 */
const SCRIPT = `trap '' HUP INT TERM
umask 077
part=$1 max=$2 total=0 size=0 older= newer=
while :; do
  dd bs=65536 count=16 >>"$part" 2>/dev/null || exec cat >/dev/null
  grown=$(wc -c <"$part")
  [ "$grown" -gt "$size" ] || exit
  size=$grown
  [ "$size" -lt "$max" ] && continue
  total=$((total + size)) size=0 max=$3
  [ -n "$older" ] && rm -f "$older"
  older=$newer
  part=$1.$total
  newer=$part
done`;

/**
 * Starts a process that writes an output to a file, at most 100 MB of it: its beginning and its end. It outlives
 * this program and ends when nobody can write any more. @returns the file to write to, which the caller closes.
 * @throws Error when it cannot be started.
 */
export function openDetachedLog(
  path: string,
  maxBytes = MAX_BYTES,
): { input: number; written: Promise<unknown> } {
  const pipe = `${path}.pipe`;
  const files: number[] = [];
  const open = (flags: "r" | "r+" | "w") => {
    const file = openSync(pipe, flags);
    files.push(file);
    return file;
  };
  const made = Bun.spawnSync(["mkfifo", "-m", "600", pipe], { env: { PATH: "/usr/bin:/bin" } });
  if (!made.success) throw new Error(`mkfifo failed: ${made.stderr.toString().trim()}`);
  try {
    // Opening one end alone would wait for the other one.
    open("r+");
    const output = open("r");
    const input = openSync(pipe, "w");
    const sizes = [maxBytes / 2, maxBytes / 4].map((bytes) => String(Math.floor(bytes) - STEP_BYTES));
    const words = ["diligent-log", path, ...sizes];
    const writer = Bun.spawn(["/bin/sh", "-c", SCRIPT, ...words], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: [output, "ignore", "ignore"],
      detached: true,
    });
    writer.unref();
    return { input, written: writer.exited };
  } finally {
    for (const file of files) closeSync(file);
    rmSync(pipe, { force: true });
  }
}

/** A file with a part of the output that begins at `at`. */
interface LogPart {
  path: string;
  at: number;
  bytes: number;
}

/** The files with the output that are there, in their order. */
export function listLogParts(path: string): LogPart[] {
  const name = basename(path);
  const positions = readdirSync(dirname(path)).flatMap((other) => {
    const end = other.startsWith(`${name}.`) ? other.slice(name.length + 1) : "";
    return /^\d+$/.test(end) ? [Number(end)] : [];
  });
  return [0, ...positions.sort((left, right) => left - right)].flatMap((at) => {
    const part = at === 0 ? path : join(dirname(path), `${name}.${at}`);
    const bytes = statSync(part, { throwIfNoEntry: false })?.size;
    return bytes === undefined ? [] : [{ path: part, at, bytes }];
  });
}

/** What is there of the output from a position on, in pieces; each is used before the next one is asked for. */
export function* readDetachedLog(path: string, from: number): Generator<OutputPiece> {
  const piece = new Uint8Array(PIECE_BYTES);
  for (const part of listLogParts(path)) {
    if (part.at + part.bytes <= from) continue;
    const file = openPart(part.path);
    if (file === undefined) continue;
    try {
      for (let position = Math.max(0, from - part.at); ; ) {
        const read = readSync(file, piece, 0, PIECE_BYTES, position);
        if (read === 0) break;
        yield { at: part.at + position, bytes: piece.subarray(0, read) };
        position += read;
      }
    } finally {
      closeSync(file);
    }
  }
}

/** Undefined when the part has just been removed because there is a newer one. */
function openPart(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
