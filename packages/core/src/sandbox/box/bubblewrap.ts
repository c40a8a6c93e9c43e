import { existsSync, renameSync, writeFileSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { findCovers, type HomeView, type SandboxMounts } from "./mounts.ts";
import type { PrivateTemporary } from "./seccomp.ts";

interface BubblewrapOptions {
  places: SandboxMounts;
  /** Of the system: hidden whole, since sockets lie in them. */
  runtimeDirectories: readonly string[];
  /** Below those: what programs are started from. */
  shownDirectories: readonly string[];
  sharedTemporary: readonly string[];
  /** False for a bubblewrap before 0.8, or where it may not. */
  forbidsNamespaces: boolean;
  /** True: it finds a filter for system calls as its descriptor 4. */
  isFiltered: boolean;
  isAdministrator: boolean;
  /** True for a command that has joined the session's namespaces; otherwise it gets namespaces of its own. */
  isJoining: boolean;
  /** Of the user as whom commands run, outside. */
  owner: { userId: number; groupId: number };
  cwd: string;
}

/**
 * The bubblewrap arguments for running a command in the sandbox, without the command itself: separate namespaces
 * for processes, network, sockets, users, unless it shares those of its session; no privileges; the file system
 * read-only except for the given paths. Later mounts cover earlier ones. The sandbox dies with the process that
 * started it.
 */
export function toBubblewrapArguments({ places, ...options }: BubblewrapOptions): string[] {
  const { temporary } = places;
  const bind = (path: string) => ["--bind", path, path];
  // Parents first.
  const own = [...new Set([...places.writable, ...places.fixed])].sort();
  const covers = temporary ? findCovers([...own, temporary.directory], options.sharedTemporary) : [];
  return [
    ...(options.isJoining ? toJoiningArguments(options) : OWN_NAMESPACES),
    ...["--unshare-uts", "--unshare-cgroup-try"],
    ...(options.forbidsNamespaces ? ["--disable-userns"] : []),
    ...(options.isFiltered ? ["--seccomp", "4"] : []),
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent"],
    ...["--ro-bind", "/", "/", "--dev", "/dev"],
    // One that could be written to would let an administrator change the kernel's settings.
    ...(options.isJoining ? ["--ro-bind", "/proc", "/proc"] : ["--proc", "/proc"]),
    // The files belong to root, inside and outside.
    ...(options.isAdministrator && !options.isJoining ? ["--remount-ro", "/proc"] : []),
    ...places.homes.flatMap(toHomeArguments),
    ...options.runtimeDirectories.flatMap((path) => ["--tmpfs", path]),
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
    ...["--chdir", options.cwd],
  ];
}

const OWN_NAMESPACES: readonly string[] = [
  ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net"],
];

/** In the session's namespaces everybody is root: the command is the user again, in a namespace of its own for that. */
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
  /** Absolute; used by the program as the named descriptor. */
  file?: string;
}

/**
 * Arguments for bubblewrap, in a file where one can be made: names that are not valid text cannot be passed otherwise, and
 * the commands of a session see each other's command lines. Bubblewrap closes the descriptor once it has read it.
 * @param options.directory where the file is made, beyond the reach of commands; absolute.
 * @throws Error where a name is not valid text and there is no file for it.
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

/** Undefined where it cannot be written, for instance on a full disk. */
function writeArguments(argv: readonly string[], directory: string): string | undefined {
  const content = Buffer.concat(argv.flatMap((argument) => [Buffer.from(toSystemPath(argument)), NUL]));
  // Named after what it says: no command changes what another is about to read.
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
 * Runs the rest of its words, reports the end of that (see `EndReport`), and stays until nothing else runs in the
 * sandbox, which ends with it: background processes of a command therefore keep running. The shell's own messages
 * about how the command ended are discarded.
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

/** The command line of a shell that runs one of another shell; the first process of a sandbox. */
export function toStayingShell(argv: readonly string[]): string[] {
  const [shell = "sh"] = argv;
  return [shell, "-c", SCRIPT, "sandbox", ...argv];
}

/**
 * Tells package managers that there is no network: otherwise some retry for more than a minute.
 * From npm's, pip's, cargo's, go's, uv's and yarn's documentation.
 */
const OFFLINE: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: "0",
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
  npm_config_fund: "false",
  YARN_HTTP_RETRY: "0",
  PIP_RETRIES: "0",
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  UV_HTTP_RETRIES: "0",
  CARGO_NET_OFFLINE: "true",
  CARGO_NET_RETRY: "0",
  GOPROXY: "off",
};

/**
 * The environment inside: temporary files go where they persist, and so do caches that programs need. The user's
 * own variables stay.
 */
export function toBoxEnvironment(
  environment: Readonly<Record<string, string>>,
  temporary: PrivateTemporary | undefined,
): Record<string, string> {
  const { XDG_RUNTIME_DIR: _, ...rest } = environment;
  const files = temporary?.files ?? "/tmp";
  const caches = { GOCACHE: `${files}/go-build`, npm_config_logs_dir: `${files}/npm-logs` };
  return { ...OFFLINE, ...caches, ...rest, TMPDIR: files };
}
