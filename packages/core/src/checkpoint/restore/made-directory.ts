import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";

/** A directory that was made for what is to come back; where nothing came, it goes away again, with those made above it. */
export class MadeDirectory implements Disposable {
  /** The outermost one that was made; undefined where somebody else was faster. */
  private readonly top: string | undefined;

  /** @param path absolute. @throws errors of the file system. */
  constructor(private readonly path: string) {
    this.top = mkdirSync(path, { recursive: true });
  }

  [Symbol.dispose](): void {
    if (this.top === undefined) return;
    try {
      for (let path = this.path; path.length >= this.top.length; path = dirname(path)) rmdirSync(path);
    } catch {
      // As a rule something has come back; or there is something of somebody else's in it.
    }
  }
}
