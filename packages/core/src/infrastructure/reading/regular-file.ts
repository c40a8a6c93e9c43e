import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { systemErrorText } from "../system-error.ts";
import { specialFileKind } from "./file-target.ts";
import { assertOpenedAt, MovedPathError, pathForChildrenOf } from "./opened-path.ts";

const CHUNK_BYTES = 64 * 1024;
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Opens a regular file for reading. A pipe, socket or device is refused, also one that took the file's place a moment
 * ago: opening never waits (`O_NONBLOCK`) and never follows a link (`O_NOFOLLOW`), so `realPath` must be real. So is a
 * file that was reached because a directory of the path has been swapped for a link (`MovedPathError`).
 */
export async function openRegularFile(realPath: string): Promise<{ handle: FileHandle; stats: BigIntStats }> {
  const handle = await open(realPath, OPEN_FLAGS).catch((error: unknown) => {
    throw new Error(`Cannot open ${realPath}: ${systemErrorText(error)}.`);
  });
  try {
    assertOpenedAt(handle.fd, realPath);
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
  using file = holdRegularFile(realPath);
  try {
    return readFileSync(file.descriptor);
  } catch (error) {
    throw new Error(`Cannot read ${realPath}: ${systemErrorText(error)}.`);
  }
}

/** A regular file, open for reading until it is disposed of. */
export interface HeldFile extends Disposable {
  descriptor: number;
  /** Its path for a child process: that of the open file where the system has one. */
  pathForChildren: string;
}

/** Opens a regular file with the same care, and keeps it open. */
export function holdRegularFile(realPath: string): HeldFile {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(realPath, OPEN_FLAGS);
    assertOpenedAt(descriptor, realPath);
    assertRegular(realPath, fstatSync(descriptor, { bigint: true }));
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    if (error instanceof MovedPathError) throw error;
    throw new Error(`Cannot read ${realPath}: ${systemErrorText(error)}.`);
  }
  const pathForChildren = pathForChildrenOf(descriptor) ?? realPath;
  return { descriptor, pathForChildren, [Symbol.dispose]: () => closeSync(descriptor) };
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
