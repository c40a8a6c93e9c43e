import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import {
  cleanPath,
  inheritEnvironment,
  resolveExecutable,
} from "../../infrastructure/process/environment.ts";
import { startProcess } from "../../infrastructure/process/process.ts";
import { type Environment, sleep } from "../../infrastructure/runtime.ts";
import { PluginError } from "./plugin-error.ts";
import { MAX_PLUGIN_BYTES, MAX_TREE_ENTRIES, type PluginEntry, type PluginTree } from "./plugin-files.ts";
import type { PluginSource } from "./plugin-source.ts";

/** Where git runs. */
export interface FetchPlace {
  environment: Environment;
  /** Programs in it are not used. */
  cwd: string;
  /** An empty directory for the repository. */
  directory: string;
  signal: AbortSignal;
}

/** A repository at one commit. */
export interface FetchedRepository {
  /** 40 or 64 hexadecimal digits. */
  commit: string;
  tree: PluginTree;
}

type GitSource = Extract<PluginSource, { kind: "git" }>;

const FETCH_MS = 120_000;
const READ_MS = 30_000;
const MAX_DOWNLOAD_BYTES = 300 * 1024 * 1024;
const WATCH_EVERY_MS = 100;
const MAX_ERROR_BYTES = 16 * 1024;
const MAX_LISTING_BYTES = 32 * 1024 * 1024;

/**
 * Fetches one commit without history, and reads its files from git's storage. There is never a working tree, so neither
 * hooks nor filters nor attributes of the repository are used, and submodules are left out.
 * @throws PluginError if it cannot be fetched within the limits.
 */
export async function fetchRepository(source: GitSource, place: FetchPlace): Promise<FetchedRepository> {
  const git = createGit(source, place);
  await git(["init", "--quiet", "--bare", "--template=", place.directory], { timeoutMs: READ_MS });
  await fetchCommit(git, source, place);
  const commit = (await git(["rev-parse", "--verify", "refs/plugin/head^{commit}"], { timeoutMs: READ_MS }))
    .toString("latin1")
    .trim();
  return { commit, tree: await readTree(git, commit) };
}

interface GitOptions {
  timeoutMs: number;
  input?: string;
  maxBytes?: number;
  signal?: AbortSignal;
}

type Git = (args: readonly string[], options: GitOptions) => Promise<Buffer>;

/** Settings of the user and the system do not count: they could run programs, or name another address. */
function createGit({ protocol }: GitSource, { environment, cwd, directory, signal }: FetchPlace): Git {
  const program = resolveExecutable("git", { environment, outside: cwd });
  if (program === undefined) throw new PluginError("git was not found in PATH.");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const settings = [
    ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "core.askPass="],
    ...["credential.helper=", "submodule.recurse=false", "fetch.recurseSubmodules=false", "gc.auto=0"],
    ...["maintenance.auto=false", "transfer.bundleURI=false", "http.followRedirects=initial"],
    // Larger files are read as a stream, so that memory stays bounded.
    ...["core.bigFileThreshold=1m", "http.lowSpeedLimit=1000", "http.lowSpeedTime=30"],
    ...["protocol.allow=never", `protocol.${protocol}.allow=always`],
  ].flatMap((setting) => ["-c", setting]);
  const own = {
    ...inheritEnvironment(environment, protocol === "ssh" ? ["SSH_AUTH_SOCK"] : []),
    PATH: cleanPath(environment.PATH, { root: cwd, cwd }),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    SSH_ASKPASS: "false",
    SSH_ASKPASS_REQUIRE: "force",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ClearAllForwardings=yes",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_DIR: directory,
  };
  return (args, options) =>
    runGit([program, ...settings, ...args], own, { cwd: directory, signal, ...options });
}

async function fetchCommit(
  git: Git,
  { address, ref }: GitSource,
  { directory, signal }: FetchPlace,
): Promise<void> {
  const over = new AbortController();
  const tooLarge = new AbortController();
  const watching = watchSize(directory, over.signal).then((isTooLarge) => {
    if (isTooLarge) tooLarge.abort();
  });
  const refspec = `+${ref ?? "HEAD"}:refs/plugin/head`;
  const options = [
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-auto-gc",
    "--no-write-fetch-head",
  ];
  try {
    await git(["fetch", ...options, "--", address, refspec], {
      timeoutMs: FETCH_MS,
      signal: AbortSignal.any([signal, tooLarge.signal]),
    });
  } catch (error) {
    if (tooLarge.signal.aborted)
      throw new PluginError(`${address} is larger than ${MAX_DOWNLOAD_BYTES / 2 ** 20} MB.`);
    throw error;
  } finally {
    over.abort();
    await watching;
  }
}

/** Resolves with true when the directory is too large, or with false when the watch is over. */
async function watchSize(directory: string, over: AbortSignal): Promise<boolean> {
  while (!over.aborted) {
    if (sizeOf(join(directory, "objects")) > MAX_DOWNLOAD_BYTES) return true;
    await sleep(WATCH_EVERY_MS, over);
  }
  return false;
}

/** Git packs what it downloads, so there are few files. */
function sizeOf(directory: string): number {
  try {
    return readDirectory(directory).reduce((sum, { name, kind }) => {
      const path = join(directory, name);
      return (
        sum + (kind === "directory" ? sizeOf(path) : (statSync(path, { throwIfNoEntry: false })?.size ?? 0))
      );
    }, 0);
  } catch {
    return 0; // Not there yet, or just renamed.
  }
}

/** Of `ls-tree`: mode, type, object, size, path. */
const LISTED = /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-)\t([\s\S]+)$/;

async function readTree(git: Git, commit: string): Promise<PluginTree> {
  const listing = await git(["ls-tree", "-r", "-z", "-l", "--full-tree", commit], {
    timeoutMs: READ_MS,
    maxBytes: MAX_LISTING_BYTES,
  });
  const lines = listing.toString("utf8").split("\0").filter(Boolean);
  if (lines.length > MAX_TREE_ENTRIES) throw new PluginError(`It has more than ${MAX_TREE_ENTRIES} files.`);
  const objects = new Map<string, string>();
  const entries: PluginEntry[] = [];
  const remarks: string[] = [];
  for (const line of lines) {
    const [, mode = "", type, object = "", size, path = ""] = LISTED.exec(line) ?? [];
    if (type !== "blob") {
      remarks.push(`${path} is a submodule, which is left out.`);
      continue;
    }
    objects.set(path, object);
    const kind = mode === "120000" ? "link" : "file";
    entries.push({ path, kind, isExecutable: mode === "100755", size: Number(size) });
  }
  return { entries, remarks, read: (wanted) => readBlobs(git, objects, wanted) };
}

async function readBlobs(
  git: Git,
  objects: ReadonlyMap<string, string>,
  wanted: readonly PluginEntry[],
): ReturnType<PluginTree["read"]> {
  if (wanted.length === 0) return [];
  const input = wanted.map(({ path }) => `${objects.get(path) ?? ""}\n`).join("");
  const output = await git(["cat-file", "--batch"], {
    ...{ input, timeoutMs: READ_MS },
    maxBytes: MAX_PLUGIN_BYTES + wanted.length * 100,
  });
  let at = 0;
  return wanted.map((entry) => {
    const end = output.indexOf("\n", at);
    const [, type, size] = output.toString("latin1", at, end).split(" ");
    if (end === -1 || type !== "blob")
      throw new PluginError(`${entry.path} cannot be read from the repository.`);
    const content = output.subarray(end + 1, end + 1 + Number(size));
    at = end + 2 + Number(size);
    return { ...entry, content, size: content.length };
  });
}

async function runGit(
  argv: readonly string[],
  environment: Record<string, string>,
  { cwd, timeoutMs, input = "", maxBytes = MAX_ERROR_BYTES, signal }: GitOptions & { cwd: string },
): Promise<Buffer> {
  const child = await startProcess({ argv, cwd, environment, hasInput: true, hasSeparateOutputs: true });
  const over = new AbortController();
  const tooLong = new AbortController();
  const [stdout, stderr] = child.outputs.map((stream, index) =>
    index === 0
      ? readBounded(stream, maxBytes, () => tooLong.abort())
      : readBounded(stream, MAX_ERROR_BYTES, () => {}),
  );
  const stop = AbortSignal.any([over.signal, tooLong.signal, ...(signal ? [signal] : [])]);
  const limit = sleep(timeoutMs, stop).then(() => "limit" as const);
  void send(child, input);
  const ended = await Promise.race([child.exited, limit]);
  over.abort();
  if (ended === "limit") await child.end();
  const output = await stdout;
  const problem = (await stderr)?.toString("utf8") ?? "";
  child.closeOutputs();
  if (tooLong.signal.aborted) throw new PluginError("The repository has more than a plugin may have.");
  if (signal?.aborted) throw new PluginError("Interrupted.");
  if (ended === "limit") throw new PluginError(`git did not finish within ${timeoutMs / 1_000} seconds.`);
  if (ended.exitCode !== 0) throw new PluginError(describeFailure(problem));
  return output ?? Buffer.alloc(0);
}

function describeFailure(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const line = lines.find((each) => /^(?:fatal|error|remote):/.test(each)) ?? lines.find(Boolean) ?? "";
  return `git: ${line.replace(/^(?:fatal|error): /, "") || "it failed"}`;
}

async function send(child: Awaited<ReturnType<typeof startProcess>>, text: string): Promise<void> {
  try {
    child.input?.write(text);
    await child.input?.end();
  } catch {
    // It has ended; its exit code says why.
  }
}

/** The beginning of a stream, which is read to its end. */
async function readBounded(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  onExcess: () => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (size < maxBytes) chunks.push(chunk.slice());
    if (size + chunk.length > maxBytes && size <= maxBytes) onExcess();
    size += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
