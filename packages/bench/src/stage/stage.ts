import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildBundle, CHECKOUT_PROGRAM, writeScript } from "./programs.ts";
import { Scratch } from "./scratch.ts";

/** A form of diligent: from its sources, or as it ships; `path` can be executed. */
export interface Program {
  name: "checkout" | "bundle";
  path: string;
}

/** What the benchmarks work with: the programs, a temporary place, and how often to measure. */
export class Stage implements Disposable {
  readonly scratch = new Scratch();
  readonly checkout: Program = { name: "checkout", path: CHECKOUT_PROGRAM };
  /** An empty script; see `writeScript`. */
  readonly emptyScript: string;
  /** A user's home that is new at first and then the same for all runs, as a user's is: Bun keeps a cache in it. */
  readonly home: string;
  private bundle: Promise<Program> | undefined;

  /** @param asked how often each quantity is measured, and how long; every benchmark has its own numbers when left out. */
  constructor(private readonly asked: { runs?: number | undefined; seconds?: number | undefined } = {}) {
    this.emptyScript = writeScript(this.scratch.makeDirectory("empty"), "");
    this.home = this.scratch.makeDirectory("home");
  }

  runs(usual: number): number {
    return this.asked.runs ?? usual;
  }

  /** How long to look on where nothing happens. */
  seconds(usual: number): number {
    return this.asked.seconds ?? usual;
  }

  /** The environment of a user who has nothing set but what every program needs. */
  environment(home: string = this.home): Record<string, string> {
    const temporary = join(this.scratch.path, "tmp");
    mkdirSync(temporary, { recursive: true });
    const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":");
    return { PATH: path, HOME: home, TMPDIR: temporary, LANG: "C.UTF-8" };
  }

  /** The bundle is built when it is first asked for. */
  async programs(): Promise<readonly [checkout: Program, bundle: Program]> {
    this.bundle ??= buildBundle(this.environment()).then((path) => ({ name: "bundle", path }));
    return [this.checkout, await this.bundle];
  }

  [Symbol.dispose](): void {
    this.scratch[Symbol.dispose]();
  }
}
