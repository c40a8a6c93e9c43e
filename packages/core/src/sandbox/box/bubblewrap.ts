import { existsSync, renameSync, writeFileSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { findCovers, type HomeView, type SandboxMounts } from "./mounts.ts";
import type { PrivateTemporary } from "./seccomp.ts";

interface BubblewrapOptions {
  places: SandboxMounts;
  /** System directories that are hidden completely, because they contain sockets. */
  runtimeDirectories: readonly string[];
  /** Paths below those from which programs are started. */
  shownDirectories: readonly string[];
  sharedTemporary: readonly string[];
  /** False for a bubblewrap before 0.8 and a setuid one. */
  forbidsNamespaces: boolean;
  /** True: descriptor 4 is a filter for system calls. */
  isFiltered: boolean;
  isAdministrator: boolean;
  /** True for a command in the session's namespaces; otherwise it gets its own. */
  isJoining: boolean;
  /** The user who runs commands, outside. */
  owner: { userId: number; groupId: number };
  /** Those of the writable paths that are only readable. */
  readOnly?: readonly string[];
  cwd: string;
}

/**
 * The bubblewrap arguments for running a command in the sandbox, without the command itself: separate namespaces for
 * processes, network, sockets and users unless it shares those of its session, no privileges, and a read-only file
 * system except for the given paths. The sandbox ends with the process that started it.
 */
export function toBubblewrapArguments(options: BubblewrapOptions): string[] {
  return [...toIsolation(options), ...toMountArguments(options), "--chdir", options.cwd];
}

/** The same for a command that joins mounts which `toPreparationArguments` has made: only what is its own is mounted. */
export function toPreparedArguments(options: BubblewrapOptions): string[] {
  return [
    ...toIsolation(options),
    ...["--dev-bind", "/", "/", "--ro-bind", "/proc", "/proc", "--tmpfs", "/dev/shm"],
    ...toRuntimeArguments(options),
    ...options.shownDirectories.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--chdir", options.cwd],
  ];
}

/** The bubblewrap arguments for making the mounts of commands in the namespaces of the session, for `toPreparedArguments`. */
export function toPreparationArguments(options: BubblewrapOptions): string[] {
  return [
    ...["--unshare-user", "--uid", "0", "--gid", "0", "--cap-drop", "ALL", "--die-with-parent"],
    ...["--json-status-fd", "3"],
    // Bubblewrap writes to it when a command makes its own mounts, and makes it read-only.
    ...toMountArguments(options, "--bind"),
    ...["--remount-ro", "/dev", "--chdir", "/"],
  ];
}

function toIsolation(options: Omit<BubblewrapOptions, "places">): string[] {
  return [
    ...(options.isJoining ? toJoiningArguments(options) : OWN_NAMESPACES),
    ...["--unshare-uts", "--unshare-cgroup-try"],
    ...(options.forbidsNamespaces ? ["--disable-userns"] : []),
    ...(options.isFiltered ? ["--seccomp", "4"] : []),
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent"],
  ];
}

/** Later mounts cover earlier ones. @param processBind how commands that share processes get `/proc`. */
function toMountArguments(
  { places, ...options }: BubblewrapOptions,
  processBind: "--bind" | "--ro-bind" = "--ro-bind",
): string[] {
  const { temporary } = places;
  const bind = (path: string) => [options.readOnly?.includes(path) ? "--ro-bind" : "--bind", path, path];
  // Parents first.
  const own = [...new Set([...places.writable, ...places.fixed])].sort();
  const covers = temporary ? findCovers([...own, temporary.directory], options.sharedTemporary) : [];
  return [
    ...["--ro-bind", "/", "/", "--dev", "/dev"],
    // A writable /proc/sys would allow an administrator to change the kernel's settings.
    ...(options.isJoining ? [processBind, "/proc", "/proc"] : ["--proc", "/proc"]),
    // The files belong to root, inside and outside.
    ...(options.isAdministrator && !options.isJoining ? ["--remount-ro", "/proc"] : []),
    ...places.homes.flatMap(toHomeArguments),
    ...toRuntimeArguments(options),
    ...options.sharedTemporary.flatMap((path) =>
      temporary ? ["--bind", temporary.files, path] : ["--tmpfs", path],
    ),
    ...covers.flatMap((path) => ["--tmpfs", path]),
    ...(temporary ? ["--ro-bind", temporary.directory, temporary.directory, ...bind(temporary.files)] : []),
    ...options.shownDirectories.flatMap((path) => ["--ro-bind-try", path, path]),
    ...own.flatMap(bind),
    ...covers.flatMap((path) => ["--remount-ro", path]),
    ...places.protected.flatMap((path) => ["--ro-bind-try", path, path]),
    ...places.hiddenDirectories.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...places.hiddenFiles.flatMap((path) => ["--ro-bind", temporary?.emptyFile ?? "/dev/null", path]),
    ...places.unreadableFiles.flatMap((path) => [
      "--ro-bind",
      temporary?.unreadableFile ?? "/dev/null",
      path,
    ]),
  ];
}

function toRuntimeArguments({ runtimeDirectories }: Pick<BubblewrapOptions, "runtimeDirectories">): string[] {
  return runtimeDirectories.flatMap((path) => ["--tmpfs", path]);
}

const OWN_NAMESPACES: readonly string[] = [
  ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net"],
];

/** In the session's namespaces every process is root. A further namespace maps the command to the user again. */
function toJoiningArguments({ owner: { userId, groupId } }: Pick<BubblewrapOptions, "owner">): string[] {
  const user = ["--unshare-user", "--uid", String(userId), "--gid", String(groupId)];
  return [...user, "--json-status-fd", "3"];
}

function toHomeArguments({ directory, shown, links }: HomeView): string[] {
  return [
    ...["--tmpfs", directory],
    ...shown.flatMap((path) => ["--ro-bind-try", path, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--remount-ro", directory],
  ];
}

interface PackedArguments {
  argv: readonly string[];
  /** Absolute; the program reads it from the given descriptor. */
  file?: string;
}

/**
 * Writes the arguments for bubblewrap to a file if possible: names that are not valid text cannot be passed
 * otherwise, and the commands of a session see each other's command lines. Bubblewrap closes the descriptor once it
 * has read it.
 *
 * @param options.directory the directory of the file, outside the reach of commands; absolute.
 * @throws Error if a name is not valid text and the file cannot be created.
 */
export function packArguments(
  argv: readonly string[],
  { directory, descriptor }: { directory: string | undefined; descriptor: number },
): PackedArguments {
  const file = directory && writeArguments(argv, directory);
  if (file) return { argv: ["--args", String(descriptor)], file };
  if (argv.every((argument) => argument.isWellFormed())) return { argv };
  throw new Error(
    "the project has protected files below names that are not valid text, which cannot be protected",
  );
}

/** Undefined if the file cannot be written, for instance on a full disk. */
function writeArguments(argv: readonly string[], directory: string): string | undefined {
  const content = Buffer.concat(argv.flatMap((argument) => [Buffer.from(toSystemPath(argument)), NUL]));
  // Named after its contents, so that no command changes what another is about to read.
  const file = `${directory}/arguments-${Bun.hash(content).toString(36)}`;
  try {
    if (!existsSync(file)) {
      writeFileSync(`${file}.draft`, content, { mode: 0o600 });
      renameSync(`${file}.draft`, file);
    }
    return file;
  } catch {
    return undefined;
  }
}

const NUL = Buffer.of(0);

/**
 * Runs the rest of its arguments, reports their end (see `EndReport`), and waits until nothing else runs in the
 * sandbox, which then ends too: background processes of a command therefore keep running. The shell's own messages
 * about the end of the command are discarded.
 */
const SCRIPT = `exec 4>&2 2>/dev/null
pause=1
trap pause=0.05 TERM
echo begun >&3
"$@" 2>&4 3>&- 4>&-
status=$?
trap pause=0.05 TERM
set -- /proc/[0-9]*
runs_on=0
[ $# -gt 2 ] && runs_on=1
exec >/dev/null 4>&-
echo "$status $runs_on" >&3
exec 3>&-
while [ $# -gt 2 ]; do sleep $pause; set -- /proc/[0-9]*; done
exit $status`;

/** The command line of a shell that runs another shell's command line; the first process of a sandbox. */
export function toStayingShell(argv: readonly string[]): string[] {
  const [shell = "sh"] = argv;
  return [shell, "-c", SCRIPT, "sandbox", ...argv];
}

/**
 * Tells package managers that there is no network: otherwise some retry for more than a minute. From the
 * documentation of npm, pip, cargo, go, uv and yarn.
 */
const OFFLINE: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: "0",
  YARN_HTTP_RETRY: "0",
  // With one, pip says why it finds no version of anything.
  PIP_RETRIES: "1",
  UV_HTTP_RETRIES: "0",
  CARGO_NET_OFFLINE: "true",
  CARGO_NET_RETRY: "0",
  GOPROXY: "off",
};

/** Keeps package managers from questions, and from connections that nobody asked for. */
const QUIET: Readonly<Record<string, string>> = {
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
  npm_config_fund: "false",
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
};

/** Caches and stores that programs write even if they find everything in them. From the documentation of each. */
function toCaches(files: string): Readonly<Record<string, string>> {
  return {
    GOCACHE: `${files}/go-build`,
    npm_config_logs_dir: `${files}/npm-logs`,
    npm_config_cache: `${files}/npm`,
    npm_config_store_dir: `${files}/pnpm-store`,
    YARN_GLOBAL_FOLDER: `${files}/yarn`,
    BUN_INSTALL_CACHE_DIR: `${files}/bun`,
    PIP_CACHE_DIR: `${files}/pip`,
    UV_CACHE_DIR: `${files}/uv`,
    GRADLE_USER_HOME: `${files}/gradle`,
    GEM_SPEC_CACHE: `${files}/gem-specs`,
    BUNDLE_USER_CACHE: `${files}/bundle`,
  };
}

/**
 * Stores that programs can read where they are but not extend. Without a network nothing is added to them; with one,
 * the session has its own.
 */
function toStores(files: string): Readonly<Record<string, string>> {
  return {
    CARGO_HOME: `${files}/cargo`,
    GOMODCACHE: `${files}/go-mod`,
    MAVEN_OPTS: `-Dmaven.repo.local=${files}/maven`,
  };
}

/**
 * The environment inside: temporary files and the caches that programs need use a directory that persists. The user's
 * own variables are kept, except for those of a proxy where there is a network.
 * @param network the variables of the command's way to the network; undefined where there is none.
 */
export function toBoxEnvironment(
  environment: Readonly<Record<string, string>>,
  temporary: PrivateTemporary | undefined,
  network?: Readonly<Record<string, string>>,
): Record<string, string> {
  const { XDG_RUNTIME_DIR: _, ...rest } = environment;
  const files = temporary?.files ?? "/tmp";
  const own = { ...(network ? toStores(files) : OFFLINE), ...QUIET, ...toCaches(files) };
  return { ...own, ...rest, ...network, TMPDIR: files };
}
