import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { systemErrorText } from "../system-error.ts";
import { specialFileKind } from "./file-target.ts";

const CHUNK_BYTES = 64 * 1024;
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Opens a regular file for reading. A pipe, socket or device is refused, also one that took the file's place a moment
 * ago: opening never waits (`O_NONBLOCK`) and never follows a link (`O_NOFOLLOW`), so `realPath` must be real.
 */
export async function openRegularFile(realPath: string): Promise<{ handle: FileHandle; stats: BigIntStats }> {
  const handle = await open(realPath, OPEN_FLAGS).catch((error: unknown) => {
    throw new Error(`Cannot open ${realPath}: ${systemErrorText(error)}.`);
  });
  try {
    const stats = await handle.stat({ bigint: true });
    assertRegular(realPath, stats);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The whole content, with the same care in opening. */
export function readWholeFile(realPath: string): Uint8Array {
  let fd: number | undefined;
  try {
    fd = openSync(realPath, OPEN_FLAGS);
    assertRegular(realPath, fstatSync(fd, { bigint: true }));
    return readFileSync(fd);
  } catch (error) {
    throw new Error(`Cannot read ${realPath}: ${systemErrorText(error)}.`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function assertRegular(realPath: string, stats: BigIntStats): void {
  const kind = specialFileKind(stats);
  if (kind !== undefined) throw new Error(`${realPath} is ${kind}`);
}

/** At most `maxBytes` from the start of the file, however large it says it is. */
export async function readStart(handle: FileHandle, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readChunks(handle, maxBytes)) {
    chunks.push(chunk);
    length += chunk.length;
  }
  return Buffer.concat(chunks, length);
}

/** The bytes from the start of the file, a piece at a time; each piece is the consumer's to keep. */
export async function* readChunks(
  handle: FileHandle,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void> {
  let position = 0;
  while (position < maxBytes) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
