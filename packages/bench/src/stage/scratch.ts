import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A temporary directory of this run, removed when it is disposed of or the process exits. */
export class Scratch implements Disposable {
  /** Absolute and real. */
  readonly path: string;
  private readonly onExit = () => rmSync(this.path, { recursive: true, force: true });

  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "diligent-bench-")));
    process.on("exit", this.onExit);
  }

  /** A new directory in it. */
  makeDirectory(label: string): string {
    const parent = join(this.path, label);
    mkdirSync(parent, { recursive: true });
    return mkdtempSync(join(parent, "run-"));
  }

  [Symbol.dispose](): void {
    process.off("exit", this.onExit);
    this.onExit();
  }
}
