import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { platformName } from "../environment.ts";
import { systemErrorCode } from "../system-error.ts";
import { toSystemPath } from "./byte-name.ts";
import {
  assertOpenedAt,
  DESCRIPTORS,
  MovedPathError,
  pathForChildrenOf,
  pathOfDescriptor,
} from "./opened-path.ts";

// Linux's O_PATH, the same number on every machine that Bun runs on: such a descriptor needs no right to list the
// directory, as writing into it needs none. Node names no constant for it.
const O_PATH = 0o10000000;

/**
 * A directory that stays the one that was looked at. Another process may rename it, or put a link in its place or above
 * it: names in it are still reached through the open directory, so that nothing comes to lie anywhere else. Where the
 * system offers no such way (no `/proc`), names are plain paths, and `assertHolds` tells whether one still was right.
 */
export class HeldDirectory implements Disposable {
  private readonly isReachable: boolean;

  private constructor(
    private readonly descriptor: number,
    readonly realPath: string,
    private readonly descriptors: string,
  ) {
    this.isReachable = pathOfDescriptor(descriptor, descriptors) !== undefined;
  }

  /**
   * `realPath` must be real: no link in it.
   * @throws MovedPathError when it leads elsewhere by now, and system errors.
   */
  static open(realPath: string, descriptors = DESCRIPTORS): HeldDirectory {
    const descriptor = openDirectory(realPath, realPath);
    try {
      assertOpenedAt(descriptor, realPath, descriptors);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return new HeldDirectory(descriptor, realPath, descriptors);
  }

  /** A directory in this one, which is no longer needed for it. @throws as `open` does. */
  openChild(name: string): HeldDirectory {
    const realPath = join(this.realPath, name);
    if (!this.isReachable) return HeldDirectory.open(realPath, this.descriptors);
    return new HeldDirectory(openDirectory(this.at(name), realPath), realPath, this.descriptors);
  }

  /** The path of a name in it for this process, `.` for itself. Good until it is closed. */
  at(name: string): string {
    return this.isReachable ? `${this.descriptors}/${this.descriptor}/${name}` : join(this.realPath, name);
  }

  /** Its own path for a child process. */
  get pathForChildren(): string {
    return pathForChildrenOf(this.descriptor, this.descriptors) ?? this.realPath;
  }

  /**
   * To be called with a file just opened by `at(name)`, before anything is done with it.
   * @throws MovedPathError when it was not opened in this directory, which only a plain path lets happen.
   */
  assertHolds(descriptor: number, name: string): void {
    if (!this.isReachable) assertOpenedAt(descriptor, join(this.realPath, name), this.descriptors);
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

function openDirectory(path: string, realPath: string): number {
  const access = platformName() === "linux" ? O_PATH : constants.O_RDONLY;
  try {
    return openSync(toSystemPath(path), access | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    // What was a directory a moment ago is a link or a file now.
    if (["ELOOP", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) throw new MovedPathError(realPath);
    throw error;
  }
}
