import { dirname } from "node:path";
import { createChildEnvironment, resolveExecutable } from "../process/environment.ts";
import { markEnvironment } from "../process/process.ts";
import type { Environment } from "../runtime.ts";

/** A repository, and the environment of the program that asks about it. */
export interface GitPlace {
  /** The working tree's directory, which holds `.git`; absolute and real. */
  root: string;
  environment: Environment;
}

interface GitCall {
  signal?: AbortSignal | undefined;
  /** What it reads from its stdin, which is empty when left out. */
  input?: string | undefined;
  /** Output beyond this is dropped, and git is ended. */
  maxBytes?: number | undefined;
}

/** What git printed, and how it ended. */
export interface GitAnswer {
  exitCode: number;
  stdout: Uint8Array;
  /** At most 2,000 characters. */
  stderr: string;
  /** True if there was more output than asked for. */
  isCut: boolean;
}

const MAX_ERROR_CHARS = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;
const TIME_LIMIT_MS = 120_000;

/** Git cannot be run here; the message says why and what to do. */
export class GitError extends Error {}

/**
 * Runs git in a repository whose settings may be hostile: none of its programs runs. Hooks, the file system monitor,
 * external diffs and filters that the repository defines are switched off, and git connects to no other machine. The
 * user's own settings apply.
 */
export class Git {
  private constructor(
    private readonly program: string,
    private readonly place: GitPlace,
    private readonly settings: readonly string[],
  ) {}

  /** @throws GitError without git, and for a directory that git does not take for the top of a repository. */
  static async open(place: GitPlace): Promise<Git> {
    const { root, environment } = place;
    const program = resolveExecutable("git", { environment, outside: root });
    if (program === undefined) throw new GitError("git is not installed, or not in PATH");
    const plain = new Git(program, place, SAFE_SETTINGS);
    // In a bare repository the second one is false.
    const top = await plain.run(["rev-parse", "--show-cdup", "--is-inside-work-tree"]);
    if (top.exitCode !== 0 || text(top.stdout).trim() !== "true")
      throw new GitError(describeFailure(top, `${root} is not a git repository with a working tree`));
    return new Git(program, place, [...SAFE_SETTINGS, ...(await plain.disableFilters())]);
  }

  /** Runs one command of git, in the root of the working tree. Never asks, never waits for a terminal. */
  async run(
    args: readonly string[],
    { signal, input, maxBytes = MAX_BYTES }: GitCall = {},
  ): Promise<GitAnswer> {
    signal?.throwIfAborted();
    const child = Bun.spawn([this.program, ...this.settings, ...args], {
      cwd: this.place.root,
      env: this.environment(),
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
    });
    const stop = () => child.kill("SIGKILL");
    const timer = setTimeout(stop, TIME_LIMIT_MS);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const errors = readHead(child.stderr, MAX_ERROR_CHARS);
      const output = await readHead(child.stdout, maxBytes);
      if (output.isCut) stop();
      const exitCode = await child.exited;
      signal?.throwIfAborted();
      return {
        exitCode,
        stdout: output.bytes,
        stderr: text((await errors).bytes).trim(),
        isCut: output.isCut,
      };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  /** The same for a command that must succeed. @throws GitError with what git said. */
  async read(args: readonly string[], call: GitCall = {}): Promise<string> {
    const answer = await this.run(args, call);
    if (answer.exitCode !== 0) throw new GitError(describeFailure(answer, `git ${args[0]} failed`));
    return text(answer.stdout);
  }

  private environment(): Record<string, string> {
    const { root, environment } = this.place;
    const child = createChildEnvironment({ environment, root, cwd: root, sessionId: "" });
    return markEnvironment({
      ...child,
      LC_ALL: "C.UTF-8",
      // A directory above could be a repository of somebody else.
      GIT_CEILING_DIRECTORIES: dirname(root),
      // Otherwise it would write the index, and run a hook for that.
      GIT_OPTIONAL_LOCKS: "0",
      GIT_NO_LAZY_FETCH: "1",
      GIT_ALLOW_PROTOCOL: "none",
    }).marked;
  }

  /** Settings that switch off the filters of the repository; those of the user stay. */
  private async disableFilters(): Promise<string[]> {
    const answer = await this.run(["config", "--list", "--show-scope", "--name-only", "-z"]);
    if (answer.exitCode !== 0) throw new GitError(describeFailure(answer, "git config failed"));
    const words = text(answer.stdout).split("\0");
    const names = new Set<string>();
    for (let at = 0; at + 1 < words.length; at += 2) {
      const [scope = "", key = ""] = words.slice(at, at + 2);
      const name = /^filter\.([\s\S]+)\.[^.]+$/.exec(key)?.[1];
      if (name !== undefined && scope !== "system" && scope !== "global") names.add(name);
    }
    return [...names].flatMap((name) => {
      // What follows `=` would be taken for the value.
      if (/[=\n]/.test(name))
        throw new GitError(`the repository defines a filter named ${JSON.stringify(name)}`);
      return FILTER_SETTINGS.flatMap((setting) => ["-c", `filter.${name}.${setting}`]);
    });
  }
}

const SAFE_SETTINGS = [
  "--no-pager",
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.quotePath=true"],
  ...["-c", "submodule.recurse=false"],
];

const FILTER_SETTINGS = ["clean=", "smudge=", "process=", "required=false"];

function describeFailure({ stderr }: GitAnswer, otherwise: string): string {
  const [line = ""] = stderr.split("\n").filter((each) => each.trim() !== "");
  return line.replace(/^(?:fatal|error): /, "") || otherwise;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

async function readHead(stream: ReadableStream<Uint8Array>, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const rest = maxBytes - length;
    chunks.push(chunk.length > rest ? chunk.subarray(0, rest) : chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks), isCut: length > maxBytes };
}
