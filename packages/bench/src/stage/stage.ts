import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUN_DIRECTORY } from "../../../cli/test/support/bun-directory.ts";
import { runProcess } from "../measure/process-run.ts";

/** A form of diligent: the sources, or the shipped bundle; `path` is executable. */
export interface Program {
  name: "checkout" | "bundle";
  path: string;
}

interface StageOptions {
  runs?: number | undefined;
  seconds?: number | undefined;
  sessions?: number | undefined;
  commandsFile?: string | undefined;
}

/** The environment of the benchmarks: the programs, a temporary directory, and how often to measure. */
export class Stage implements Disposable {
  readonly scratch = new Scratch();
  readonly checkout: Program = { name: "checkout", path: CHECKOUT_PROGRAM };
  /** An empty script; see `writeScript`. */
  readonly emptyScript: string;
  /**
   * A home directory that is new at first and then the same for all runs, like a user's: Bun keeps a cache in
   * it.
   */
  readonly home: string;
  private bundle: Promise<Program> | undefined;

  /** @param asked how often each quantity is measured, and how long; every benchmark has its own defaults. */
  constructor(private readonly asked: StageOptions = {}) {
    this.emptyScript = writeScript(this.scratch.makeDirectory("empty"), "");
    this.home = this.scratch.makeDirectory("home");
  }

  runs(usual: number): number {
    return this.asked.runs ?? usual;
  }

  /** How many sessions an index has to hold. */
  sessions(usual: number): number {
    return this.asked.sessions ?? usual;
  }

  /** How long an idle program is observed. */
  seconds(usual: number): number {
    return this.asked.seconds ?? usual;
  }

  /** The file of commands to decide about. */
  get commandsFile(): string | undefined {
    return this.asked.commandsFile;
  }

  /** The environment of a user who has set only what every program needs. */
  environment(home: string = this.home): Record<string, string> {
    const temporary = join(this.scratch.path, "tmp");
    mkdirSync(temporary, { recursive: true });
    const path = [BUN_DIRECTORY, "/usr/local/bin", "/usr/bin", "/bin"].join(":");
    return { PATH: path, HOME: home, TMPDIR: temporary, LANG: "C.UTF-8" };
  }

  /** The bundle is built on first use. */
  async programs(): Promise<readonly [checkout: Program, bundle: Program]> {
    this.bundle ??= buildBundle(this.environment()).then((path) => ({ name: "bundle", path }));
    return [this.checkout, await this.bundle];
  }

  [Symbol.dispose](): void {
    this.scratch[Symbol.dispose]();
  }
}

/** How many source files the project has. */
export const SOURCE_FILES = 50;

const LINES = 40;

/** The path of a source file in the project, from 0 on. */
export function sourcePath(index: number): string {
  return `src/part-${index % SOURCE_FILES}.ts`;
}

/** A line that occurs once in each source file; the number is 0 at first. */
export function versionLine(round: number): string {
  return `export const version = ${round};`;
}

/** A new small project under version control. */
export function createProject(scratch: Scratch): string {
  const project = scratch.makeDirectory("project");
  fillProject(project);
  return project;
}

/** Turns a directory into a small project under version control. */
export function fillProject(project: string): void {
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
  mkdirSync(join(project, "src"));
  for (let index = 0; index < SOURCE_FILES; index++) {
    writeFileSync(join(project, sourcePath(index)), sourceText(index));
  }
}

function sourceText(index: number): string {
  const lines = Array.from(
    { length: LINES },
    (_, line) => `export const value${line} = ${index * LINES + line};`,
  );
  return `${[versionLine(0), ...lines].join("\n")}\n`;
}

/** A temporary directory for this run, removed when it is disposed of or the process exits. */
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

/** The home directory of a user who runs commands without a sandbox, whose cost is measured separately. */
export function createUnsandboxedHome(scratch: Scratch): string {
  const home = scratch.makeDirectory("unboxed-home");
  const directory = join(home, ".config", "diligent");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "diligent.jsonc"), '{ "sandbox": "off" }\n', { mode: 0o600 });
  return home;
}

const REPOSITORY = join(import.meta.dir, "..", "..", "..", "..");
const CLI = join(REPOSITORY, "packages", "cli");

/** The program as contributors start it, from its sources. */
export const CHECKOUT_PROGRAM = join(CLI, "src", "index.ts");
const BUNDLE_PROGRAM = join(CLI, "dist", "diligent.js");

/** A script that starts with the same first line as diligent; returns its path. */
export function writeScript(directory: string, text: string): string {
  const [firstLine = ""] = readFileSync(CHECKOUT_PROGRAM, "utf8").split("\n", 1);
  if (!firstLine.startsWith("#!")) throw new Error(`${CHECKOUT_PROGRAM} has no #! line.`);
  const path = join(directory, "script.ts");
  writeFileSync(path, `${firstLine}\n${text}`);
  chmodSync(path, 0o755);
  return path;
}

/** Builds the bundle from the current sources, with the repository's own script; returns its path. */
async function buildBundle(environment: Readonly<Record<string, string>>): Promise<string> {
  const script = join(CLI, "scripts", "bundle.ts");
  await runProcess({ argv: [process.execPath, script], cwd: REPOSITORY, environment });
  if (!existsSync(BUNDLE_PROGRAM)) throw new Error(`${script} did not create ${BUNDLE_PROGRAM}.`);
  return BUNDLE_PROGRAM;
}
