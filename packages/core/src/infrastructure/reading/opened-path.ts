import { fstatSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { fromNameBytes } from "./byte-name.ts";

/** Where Linux shows the open files of this process, each as a link to where it lies. */
export const DESCRIPTORS = "/proc/self/fd";

/** A path leads elsewhere than it did when it was looked at; nothing was read or written there. */
export class MovedPathError extends Error {
  override name = "MovedPathError";
  constructor(path: string) {
    super(
      `${path} leads elsewhere by now, or is gone: another program has moved a part of its path. Try again.`,
    );
  }
}

/** Where an open file or directory lies at this moment; undefined where the system does not tell. */
export function pathOfDescriptor(descriptor: number, descriptors = DESCRIPTORS): string | undefined {
  try {
    return fromNameBytes(readlinkSync(`${descriptors}/${descriptor}`, { encoding: "buffer" }));
  } catch {
    return undefined; // No /proc: the caller has another way.
  }
}

/** A path to an open file or directory of this process for a child of it; undefined where there is none. */
export function pathForChildrenOf(descriptor: number, descriptors = DESCRIPTORS): string | undefined {
  const isShown = pathOfDescriptor(descriptor, descriptors) !== undefined;
  return isShown ? `/proc/${process.pid}/fd/${descriptor}` : undefined;
}

/**
 * To be called when a path that was real has been opened: another process may have put a link into the place of one of
 * its directories just before. Where the system does not tell where an open file lies, the path is followed once more,
 * which notices all but a link that was there for the moment of opening only.
 * @throws MovedPathError when what was opened does not lie at `realPath`.
 */
export function assertOpenedAt(descriptor: number, realPath: string, descriptors = DESCRIPTORS): void {
  const opened = pathOfDescriptor(descriptor, descriptors);
  // What was replaced after it was opened lay there all the same.
  const isThere = opened === realPath || opened === `${realPath} (deleted)`;
  if (opened === undefined ? !isStillAt(descriptor, realPath) : !isThere) {
    throw new MovedPathError(realPath);
  }
}

function isStillAt(descriptor: number, realPath: string): boolean {
  try {
    if (realpathSync(realPath) !== realPath) return false;
    const [own, there] = [
      fstatSync(descriptor, { bigint: true }),
      lstatSync(realPath, { bigint: true, throwIfNoEntry: false }),
    ];
    return own.ino === there?.ino && own.dev === there.dev;
  } catch {
    return false; // A part of the path is gone or no longer ours to look at.
  }
}
