import { accessSync, closeSync, constants, lstatSync, openSync, renameSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { temporaryPathBeside, writeAll } from "./replace-file.ts";

/**
 * A private file (0600) that always holds one whole content, whenever the process may die: it is there from the first
 * write on, and every later one replaces it by a finished one.
 */
export class WholeFile {
  private isMade = false;

  /**
   * @param path absolute.
   * @throws Error where it could not be made, also when there is something already: nothing is ever overwritten.
   */
  constructor(readonly path: string) {
    if (lstatSync(path, { throwIfNoEntry: false })) throw new Error("it is there already");
    accessSync(dirname(path), constants.W_OK);
  }

  /** @throws errors of the file system; what the file held before stays. */
  write(content: string): void {
    if (this.isMade) this.replace(content);
    else writeNew(this.path, content);
    this.isMade = true;
  }

  private replace(content: string): void {
    const temporaryPath = temporaryPathBeside(this.path);
    writeNew(temporaryPath, content);
    try {
      renameSync(temporaryPath, this.path);
    } catch (error) {
      unlinkSync(temporaryPath);
      throw error;
    }
  }
}

function writeNew(path: string, content: string): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    writeAll(descriptor, new TextEncoder().encode(content));
  } catch (error) {
    // A full disk: half a content is none.
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
