import { chmodSync, closeSync, constants, fchmodSync, fstatSync, openSync } from "node:fs";
import { DESCRIPTORS, pathOfDescriptor } from "../../infrastructure/reading/opened-path.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";

// Linux's O_PATH: a file of which nothing may be read can be held with it.
const O_PATH = 0o10000000;

/** Somebody has changed what stands at a path since it was looked at; nothing was done there. */
export class ChangedMeanwhileError extends Error {
  override name = "ChangedMeanwhileError";
}

/** Never through a link: what is changed is held open. @throws ChangedMeanwhileError, and errors of the file system. */
export function changeMode(path: string | Buffer, mode: number): void {
  const file = openToChange(path);
  try {
    const stats = fstatSync(file.descriptor);
    if (!stats.isFile() && !stats.isDirectory()) throw new ChangedMeanwhileError(String(path));
    if (file.isReadable) fchmodSync(file.descriptor, mode);
    else chmodSync(`${DESCRIPTORS}/${file.descriptor}`, mode);
  } finally {
    closeSync(file.descriptor);
  }
}

function openToChange(path: string | Buffer): { descriptor: number; isReadable: boolean } {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return { descriptor: openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), isReadable: true };
  } catch (error) {
    if (systemErrorCode(error) === "ELOOP") throw new ChangedMeanwhileError(String(path));
    if (systemErrorCode(error) !== "EACCES") throw error;
    const descriptor = openSync(path, O_PATH | O_NOFOLLOW);
    if (pathOfDescriptor(descriptor) !== undefined) return { descriptor, isReadable: false };
    closeSync(descriptor);
    throw error; // This system has no such way.
  }
}
