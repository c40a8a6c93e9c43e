import { findMainProject } from "../paths/main-project.ts";
import type { Environment } from "../runtime.ts";
import { createChildEnvironment, resolveExecutable } from "./environment.ts";
import { markEnvironment } from "./process.ts";

// Long enough for any disk, short enough that a dead network mount does not block forever.
const TIME_LIMIT_MS = 60_000;
const MAX_ERROR_CHARS = 2_000;

/** One search and the handling of its records. */
export interface RipgrepOptions {
  args: readonly string[];
  /** The base of relative paths and of globs with a slash. */
  cwd: string;
  /** The environment of the child, see `createChildEnvironment`. */
  environment: Readonly<Record<string, string>>;
  /** Where to search for ripgrep if the bundled one is missing. */
  search: { environment: Environment; outside: string };
  signal: AbortSignal;
  /** What it reads from its stdin, which is empty when left out. */
  input?: ReadableStream<Uint8Array> | undefined;
  /** What ends a record of the output. */
  separator: "\n" | "\0";
  /** Called with each record, without its separator; false ends the search. */
  onRecord(record: string): boolean;
}

/** How a search ended; the exit code of a stopped search is meaningless. */
export interface RipgrepEnd {
  /** 0 something was found, 1 nothing, 2 an error. */
  exitCode: number;
  /** Ripgrep's own error message, truncated to 2,000 characters. */
  errors: string;
  /** The reason why the search was stopped. */
  stopped: "limit" | "timeout" | "abort" | undefined;
}

/**
 * Runs ripgrep, untouched by the user's or the project's ripgrep configuration.
 *
 * @throws when there is no ripgrep, and for an argument with a NUL character.
 */
export async function runRipgrep(options: RipgrepOptions): Promise<RipgrepEnd> {
  const unusable = options.args.find((argument) => argument.includes("\0"));
  if (unusable !== undefined)
    throw new Error(`${JSON.stringify(unusable)} holds a NUL character. Leave it out.`);
  const program = await findRipgrep(options.search);
  const { RIPGREP_CONFIG_PATH: _, ...environment } = options.environment;
  let stopped: RipgrepEnd["stopped"];
  const child = Bun.spawn([program, "--no-config", ...options.args], {
    cwd: options.cwd,
    env: markEnvironment(environment).marked,
    stdin: options.input ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stop = (cause: RipgrepEnd["stopped"]) => {
    stopped ??= cause;
    // It needs no cleanup.
    child.kill("SIGKILL");
  };
  const onAbort = () => stop("abort");
  const timer = setTimeout(() => stop("timeout"), TIME_LIMIT_MS);
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  try {
    const errors = readStart(child.stderr);
    await readRecords(child.stdout, options, () => stop("limit"));
    return { exitCode: await child.exited, errors: await errors, stopped };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", onAbort);
  }
}

/**
 * The path of ripgrep: the bundled one, else the first in PATH outside the project.
 *
 * @throws when there is neither.
 */
export async function findRipgrep(
  search: RipgrepOptions["search"],
  findInstalled: () => Promise<string> = findInstalledRipgrep,
): Promise<string> {
  // The package throws when it has no binary for this platform, and in a compiled executable.
  const installed = await findInstalled().catch(() => undefined);
  const program = installed ?? resolveExecutable("rg", search);
  if (program === undefined)
    throw new Error("ripgrep is not installed. Use bash with find and grep instead.");
  return program;
}

async function findInstalledRipgrep(): Promise<string> {
  const { rgPath } = await import("@vscode/ripgrep");
  return rgPath;
}

async function readRecords(
  output: ReadableStream<Uint8Array>,
  { separator, onRecord }: RipgrepOptions,
  stop: () => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of output) {
    const records = (rest + decoder.decode(chunk, { stream: true })).split(separator);
    rest = records.pop() ?? "";
    if (!records.every((record) => onRecord(record))) return stop();
  }
  if (rest !== "") onRecord(rest);
}

async function readStart(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    if (text.length < MAX_ERROR_CHARS) text += decoder.decode(chunk, { stream: true });
  }
  return text.slice(0, MAX_ERROR_CHARS).trim();
}

/**
 * `.gitignore` applies before `git init`, too, except in a worktree that diligent has made: the files around it ignore
 * all of it, and those of a repository end at its root.
 * @param root the project, absolute and real.
 */
export function ignoreOption(root: string): string {
  return findMainProject(root) === undefined ? "--no-require-git" : "--require-git";
}

/** What to list; ripgrep runs with a `createChildEnvironment` of `environment`. */
interface ListFilesOptions {
  /** The directory to list, absolute and real; the paths are relative to it. */
  directory: string;
  /** The project, absolute and real: programs in it are not run. */
  root: string;
  environment: Environment;
  maxFiles: number;
  signal: AbortSignal;
}

/**
 * The files in and below a directory, in no order, except hidden and ignored ones (by `.gitignore`, even without a
 * repository). Names that are not valid Unicode or contain line breaks are left out.
 *
 * @throws when there is no ripgrep, when the search fails, and when `signal` is aborted.
 */
export async function listFiles(options: ListFilesOptions): Promise<string[]> {
  const { directory, root, environment, maxFiles, signal } = options;
  const files: string[] = [];
  const end = await runRipgrep({
    args: ["--files", "--null", ignoreOption(root), "--no-messages", "--no-ignore-messages"],
    cwd: directory,
    // There is no session: only the user starts this.
    environment: createChildEnvironment({ environment, root, cwd: directory, sessionId: "" }),
    search: { environment, outside: root },
    signal,
    separator: "\0",
    onRecord(record) {
      const path = record.replace(/^\.\//, "");
      if (!/[\p{Cc}\ufffd]/u.test(path)) files.push(path);
      return files.length < maxFiles;
    },
  });
  signal.throwIfAborted();
  if (end.errors !== "") throw new Error(end.errors);
  return files;
}
