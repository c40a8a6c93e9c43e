import type { BoxPlaces } from "./box-places.ts";
import type { HomeView } from "./home-view.ts";
import { findCovers } from "./own-mounts.ts";

export interface BubblewrapOptions {
  places: BoxPlaces;
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
  cwd: string;
}

/**
 * The arguments by which bubblewrap runs a command in a box, without the command: namespaces of its own for processes, network, sockets,
 * users; no privileges; the file system read-only but for the places. What comes later lies above what came before. It
 * dies with whoever started it, and everything in it dies with it.
 */
export function toBubblewrapArguments({ places, ...options }: BubblewrapOptions): string[] {
  const { temporary } = places;
  const bind = (path: string) => ["--bind", path, path];
  // Parents first.
  const own = [...new Set([...places.writable, ...places.fixed])].sort();
  const covers = temporary ? findCovers([...own, temporary.directory], options.sharedTemporary) : [];
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"],
    "--unshare-cgroup-try",
    ...(options.forbidsNamespaces ? ["--disable-userns"] : []),
    ...(options.isFiltered ? ["--seccomp", "4"] : []),
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // To the system its files belong to the administrator, inside and outside.
    ...(options.isAdministrator ? ["--remount-ro", "/proc"] : []),
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
    ...["--chdir", options.cwd],
  ];
}

function toHomeArguments({ directory, shown, links }: HomeView): string[] {
  return [
    ...["--tmpfs", directory],
    ...shown.flatMap((path) => ["--ro-bind-try", path, path]),
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...["--remount-ro", directory],
  ];
}
