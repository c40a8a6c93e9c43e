import { closeSync, lstatSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listSystemNames } from "../../infrastructure/fs/directory.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { removeTree } from "../../infrastructure/fs/state-files.ts";
import type { NetworkConnection } from "../../infrastructure/network/connection.ts";
import { resolveExecutable } from "../../infrastructure/process/environment.ts";
import { runCommand } from "../../infrastructure/process/run.ts";
import type { SandboxState, ShellView, ShellWrapper } from "../../infrastructure/process/shell-wrapper.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import { listIdentities } from "./entry-state.ts";

/** How the files of a view came about: layers over the originals, copies that share their blocks, or full copies. */
export type ViewKind = "overlay" | "reflink" | "copy";

/** One directory to which the command may write, as it sees it. All paths are absolute. */
export interface ViewLayer {
  /** The original, which is where the command sees the view. */
  path: string;
  /** What the command sees, readable after its end. */
  view: string;
  /** Holds all that the command has changed; the whole view where that is a copy. */
  changed: string;
  /** For a copy: the identity of each file as it was copied, by its path in the directory. */
  copied?: ReadonlyMap<string, string> | undefined;
}

/** Directories as a command may change them without an effect on the originals. */
export interface ProjectView {
  kind: ViewKind;
  wrapper: ShellWrapper;
  /** Ends every process of the command and returns what it saw, but for temporary files, which are dropped. */
  endProcesses(): Promise<readonly ViewLayer[]>;
  /** Every original whose change time is not before this one has changed since; nanoseconds by the file system's clock. */
  madeAtNs: bigint;
  /** The hosts that the command wanted to reach. */
  connections: readonly NetworkConnection[];
  guard: ShellView["guard"];
  /** Ends what runs and removes all of it; the layers are gone then. */
  remove(): Promise<void>;
}

interface ViewSettings {
  state: SandboxState | undefined;
  environment: Environment;
  /** The project root, absolute and real. */
  root: string;
  /** The session's private temporary directory. */
  directory: string | undefined;
  signal: AbortSignal;
  /** The ways to make the view, the best first; all when left out. */
  kinds?: readonly ViewKind[] | undefined;
}

// A copy takes as long as its files are many: about a second for these.
export const MAX_COPIED_FILES = 20_000;
export const MAX_COPIED_BYTES = 256 * 1024 * 1024;
// Copies that share their blocks take time for each file only.
const MAX_CLONED_FILES = 100_000;

const MOUNT_LIMIT_MS = 10_000;
const COPY_LIMIT_MS = 60_000;
const KINDS: readonly ViewKind[] = ["overlay", "reflink", "copy"];
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin";

/** @throws Error with a sentence why there is no view here. */
export async function openProjectView(settings: ViewSettings): Promise<ProjectView> {
  const { state, directory, kinds = KINDS, signal } = settings;
  if (state?.kind !== "boxed")
    throw new UnavailableError(
      state?.problem ?? "commands run unsandboxed here, and a view needs the sandbox",
    );
  if (state.wrapper.openView === undefined || directory === undefined)
    throw new UnavailableError(
      "commands share no namespaces on this system, which needs bubblewrap and nsenter",
    );
  const problems: string[] = [];
  for (const kind of kinds) {
    signal.throwIfAborted();
    try {
      return await openView(kind, state.wrapper, { ...settings, directory });
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new UnavailableError([...new Set(problems)].join("; "));
}

/** There is no view of the project on this system. */
export class UnavailableError extends Error {
  constructor(reason: string) {
    super(`A dry run is not available here: ${reason}.`);
  }
}

async function openView(
  kind: ViewKind,
  session: ShellWrapper,
  settings: ViewSettings & { directory: string },
): Promise<ProjectView> {
  const connections: NetworkConnection[] = [];
  const onConnection = (connection: NetworkConnection) => void connections.push(connection);
  const shell = await session.openView?.({ onConnection });
  if (shell === undefined) throw new Error("commands share no namespaces on this system");
  const place = mkdtempSync(join(settings.directory, "view-"));
  const remove = async () => {
    await shell.end();
    removeTree(place);
  };
  try {
    const madeAtNs = markTime(place);
    const made = await (kind === "overlay" ? mountLayers : mountCopies)(shell, { ...settings, kind, place });
    return {
      kind,
      wrapper: shell.wrapper,
      connections,
      madeAtNs,
      guard: shell.guard,
      ...toEnding(shell, made, remove),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Open directories keep their mounts readable when the namespaces have ended. */
function toEnding(
  shell: ShellView,
  layers: readonly ViewLayer[],
  remove: () => Promise<void>,
): Pick<ProjectView, "endProcesses" | "remove"> {
  const descriptors: number[] = [];
  return {
    async endProcesses() {
      const kept = layers.filter(({ path }) => path !== shell.temporary);
      const ended = kept.map((layer) => {
        if (layer.copied) return layer;
        const descriptor = openSync(toSystemPath(`${shell.root}${layer.path}`), "r");
        descriptors.push(descriptor);
        return { ...layer, view: `/proc/self/fd/${descriptor}` };
      });
      await shell.end();
      return ended;
    },
    async remove() {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
      await remove();
    },
  };
}

/** The change time that a file gets now. */
function markTime(place: string): bigint {
  const path = join(place, "made");
  writeFileSync(path, "");
  return lstatSync(path, { bigint: true }).ctimeNs;
}

interface Making extends ViewSettings {
  directory: string;
  kind: ViewKind;
  /** Where the files of the view are, absolute. */
  place: string;
}

/**
 * Some originals are bound under a name of ours first, which is given then: their own name contains what separates
 * options, or a mount around them would hide them.
 */
const OVERLAY_SCRIPT = `cd "$1" || exit
shift
for pair; do
  path=\${pair#*:}
  lower=\${pair%%:*}
  case $lower in ?*) mount --bind "$path" "$lower" || exit;; esac
done
n=0
for pair; do
  path=\${pair#*:}
  lower=\${pair%%:*}
  mount -t overlay overlay -o "lowerdir=\${lower:-$path},upperdir=$n/upper,workdir=$n/work,userxattr" "$path" || exit
  case $lower in ?*) umount "$lower" || exit;; esac
  n=$((n+1))
done`;

const PLAIN_PATH = /^[\w/.@+-]+$/;

async function mountLayers(shell: ShellView, { place, environment, root }: Making): Promise<ViewLayer[]> {
  const paths = byDepth(shell.writable);
  const pairs = paths.map((path, index) => {
    for (const name of ["lower", "upper", "work"])
      mkdirSync(join(place, String(index), name), { recursive: true, mode: 0o700 });
    const isInner = paths.some((other) => other !== path && isInside(path, other));
    return `${PLAIN_PATH.test(path) && !isInner ? "" : `${index}/lower`}:${path}`;
  });
  await administer(shell, OVERLAY_SCRIPT, { arguments: [place, ...pairs], environment, root });
  return paths.map((path, index) => {
    const changed = join(place, String(index), "upper");
    return { path, view: changed, changed };
  });
}

const COPY_SCRIPT = `while [ $# -gt 1 ]; do mount --bind "$1" "$2" || exit; shift 2; done`;

async function mountCopies(shell: ShellView, making: Making): Promise<ViewLayer[]> {
  const { place, environment, root, kind, signal } = making;
  const copy = resolveExecutable("cp", { environment, outside: root });
  if (copy === undefined) throw new Error("cp not found in PATH");
  const paths = byDepth(shell.writable);
  const originals = paths.filter((path) => path !== shell.temporary);
  const outer = originals.filter(
    (path) => !originals.some((other) => other !== path && isInside(path, other)),
  );
  assertCopyable(outer, kind);
  const layers: ViewLayer[] = [];
  for (const [index, path] of paths.entries()) {
    const copied = join(place, String(index));
    mkdirSync(copied, { mode: 0o700 });
    // Temporary files of the session start empty: they may be caches of any size.
    if (path !== shell.temporary) {
      const how = kind === "reflink" ? "--reflink=always" : "--reflink=never";
      await run([copy, "-a", how, "--sparse=auto", "--", `${path}/.`, copied], {
        signal,
        timeoutMs: COPY_LIMIT_MS,
      });
    }
    layers.push({ path, view: copied, changed: copied, copied: identify(copied) });
  }
  const pairs = layers.flatMap(({ path, view }) => [view, path]);
  await administer(shell, COPY_SCRIPT, { arguments: pairs, environment, root });
  return layers;
}

/** The identities of everything in a copy, by the path in it. */
function identify(directory: string): Map<string, string> {
  const found = listIdentities(directory);
  return new Map([...found].map(([path, identity]) => [path.slice(directory.length + 1), identity]));
}

/** Calls `onEntry` for everything below a directory, by its path from there; links are not followed. */
function visit(directory: string, below: string, onEntry: (name: string) => void): void {
  for (const entry of listSystemNames(`${directory}/${below}`)) {
    const name = below === "" ? entry : `${below}/${entry}`;
    onEntry(name);
    if (findStats(toSystemPath(`${directory}/${name}`))?.isDirectory()) visit(directory, name, onEntry);
  }
}

/** @throws Error with a clause when there is too much. */
function assertCopyable(paths: readonly string[], kind: ViewKind): void {
  const maxFiles = kind === "reflink" ? MAX_CLONED_FILES : MAX_COPIED_FILES;
  let files = 0;
  let bytes = 0;
  for (const path of paths)
    visit(path, "", (name) => {
      files += 1;
      if (files > maxFiles)
        throw new Error(`the project has more than ${maxFiles} files, too many to copy for each dry run`);
      if (kind === "reflink") return;
      bytes += (findStats(toSystemPath(`${path}/${name}`))?.blocks ?? 0) * 512;
      if (bytes > MAX_COPIED_BYTES) {
        const limit = `${MAX_COPIED_BYTES / 1024 / 1024} MB`;
        throw new Error(`the project has more than ${limit}, too much to copy for each dry run`);
      }
    });
}

async function administer(
  shell: ShellView,
  script: string,
  { environment, root, ...given }: Pick<Making, "environment" | "root"> & { arguments: readonly string[] },
): Promise<void> {
  const find = (name: string) => resolveExecutable(name, { environment, outside: root });
  const [sh, mount] = [find("sh"), find("mount")];
  if (sh === undefined || mount === undefined) throw new Error("mount not found in PATH");
  const unnamed = given.arguments.find((path) => !path.isWellFormed());
  if (unnamed !== undefined) throw new Error("the name of a directory is not valid text");
  const argv = shell.toAdministration([sh, "-c", script, "view", ...given.arguments]);
  await run(argv, { signal: new AbortController().signal, timeoutMs: MOUNT_LIMIT_MS });
}

/** @throws Error with the last line that the program printed. */
async function run(
  argv: readonly string[],
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<void> {
  let printed = "";
  const decoder = new TextDecoder();
  const end = await runCommand({
    argv,
    cwd: "/",
    environment: { PATH: SYSTEM_PATH, LC_ALL: "C" },
    timeoutMs,
    signal,
    onOutput: (chunk) => {
      printed = (printed + decoder.decode(chunk, { stream: true })).slice(-MAX_PRINTED);
    },
  });
  if (end.exitCode === 0) return;
  const [first = "it failed"] = printed.trim().split("\n");
  throw new Error(end.cause === "timeout" ? "making the view took too long" : first.replace(/\.$/, ""));
}

const MAX_PRINTED = 2_000;

function byDepth(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}
