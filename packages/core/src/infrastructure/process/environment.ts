import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isInside } from "../fs/real-path.ts";
import type { Environment } from "../runtime.ts";

/**
 * The environment variables that commands inherit. This is an allow-list: everything else is withheld, such as
 * `ANTHROPIC_API_KEY`, `DATABASE_URL` or a token under an unknown name. `SSH_AUTH_SOCK` is excluded because it lets a
 * command sign with the user's keys; `BASH_ENV`, `NODE_OPTIONS` and `LD_PRELOAD` because they run code.
 */
const INHERITED: readonly string[] = [
  ...["HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "HOSTNAME"],
  ...[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
  ],
  ...["LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME"],
  ...["XDG_RUNTIME_DIR", "XDG_STATE_HOME"],
  ...[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
  ],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
  ...["GIT_SSL_CAINFO"],
  // The directories of toolchains, without which `cargo`, `pyenv` or `go` would not be the user's.
  ...["ANDROID_HOME", "CARGO_HOME", "CONDA_PREFIX", "GOPATH", "GOROOT", "JAVA_HOME", "NVM_DIR", "PNPM_HOME"],
  ...["PYENV_ROOT", "RBENV_ROOT", "RUSTUP_HOME", "SDKMAN_DIR", "VIRTUAL_ENV", "VOLTA_HOME"],
  // Lets an outer diligent process find the children of this one.
  "DILIGENT_PROCESS",
];

/** No user can answer a command: editors, pagers and questions must fail or end at once. */
const UNATTENDED: Readonly<Record<string, string>> = {
  AI_AGENT: "diligent",
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  EDITOR: "false",
  VISUAL: "false",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  SSH_ASKPASS_REQUIRE: "force",
  GCM_INTERACTIVE: "never",
  DEBIAN_FRONTEND: "noninteractive",
};

/** The environment of the parent, and what of it a child may inherit besides the defaults. */
interface ChildEnvironmentOptions {
  environment: Environment;
  /** Names of additional variables that the user allows. */
  inheritEnvironment?: readonly string[] | undefined;
  sessionId: string;
  /** Both real; see `cleanPath`. */
  root: string;
  cwd: string;
}

/** The variables that all children may inherit, including those in `inheritEnvironment`. */
export function inheritEnvironment(
  environment: Environment,
  more: readonly string[] = [],
): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const name of [...INHERITED, ...more]) {
    const value = environment[name];
    if (value !== undefined) inherited[name] = value;
  }
  return inherited;
}

/**
 * The environment of a child process: the allowed part of this process's environment, never a key, and variables that
 * prevent questions.
 */
export function createChildEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { environment, sessionId } = options;
  return {
    ...inheritEnvironment(environment, options.inheritEnvironment),
    PATH: cleanPath(environment.PATH, options),
    ...UNATTENDED,
    DILIGENT_SESSION_ID: sessionId,
  };
}

// The default search path of a POSIX system. Never part of a project, even if the project is `/`.
const SYSTEM_DIRECTORIES: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];
const DEFAULT_PATH = SYSTEM_DIRECTORIES.join(delimiter);

const resolved = new Map<string, string | undefined>();
const cleaned = new Map<string, string>();

/** Where to search for a program that diligent itself starts. */
interface ExecutableSearch {
  /** The environment whose PATH is searched. */
  environment: Environment;
  /** A directory with untrusted files: programs in it are skipped, by real path. */
  outside: string;
}

/**
 * The absolute path of a program, or undefined. Searched once: a program that is added to PATH later does not replace
 * the first. Relative and empty entries of PATH, which mean the working directory, are skipped.
 */
export function resolveExecutable(
  name: string,
  { environment, outside }: ExecutableSearch,
): string | undefined {
  const path = environment.PATH || DEFAULT_PATH;
  const key = [name, outside, path].join("\0");
  if (!resolved.has(key)) resolved.set(key, findExecutable(name, path, outside));
  return resolved.get(key);
}

function findExecutable(name: string, path: string, outside: string): string | undefined {
  const directories = path.split(delimiter).filter((directory) => isAbsolute(directory));
  const isTrusted = (path: string, directory: string) =>
    SYSTEM_DIRECTORIES.includes(directory) || !leadsInto(path, outside);
  const location = directories.find((directory) => {
    const file = join(directory, name);
    return isTrusted(directory, directory) && isExecutable(file) && isTrusted(file, directory);
  });
  return location && join(location, name);
}

/**
 * PATH for a child, resolved once like programs: without relative and empty entries, and without the project root and
 * the working directory, where a cloned `git` or `ls` could be. The project's `node_modules/.bin`, which `bunx` and
 * `bun run` prepend automatically, moves to the end. Other directories in the project (an activated virtual
 * environment) were added by the user, and stay.
 */
export function cleanPath(path: string | undefined, project: { root: string; cwd: string }): string {
  const key = [path, project.root, project.cwd].join("\0");
  const known = cleaned.get(key) ?? computeCleanPath(path, project);
  cleaned.set(key, known);
  return known;
}

function computeCleanPath(path: string | undefined, project: { root: string; cwd: string }): string {
  const root = realPathOf(project.root);
  const unwanted = [root, realPathOf(project.cwd)];
  const places = (path || DEFAULT_PATH)
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => ({ directory, real: realPathOf(directory) }))
    .filter(({ real }) => !unwanted.includes(real));
  const isProjectBin = ({ directory, real }: { directory: string; real: string }) =>
    directory.replace(/\/+$/, "").endsWith("/node_modules/.bin") && isInside(real, root);
  const ordered = [...places.filter((location) => !isProjectBin(location)), ...places.filter(isProjectBin)];
  return ordered.map(({ directory }) => directory).join(delimiter);
}

function leadsInto(path: string, directory: string): boolean {
  return isInside(realPathOf(path), realPathOf(directory));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Missing or not executable: the next entry of PATH is tried.
    return false;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A missing program cannot be run either, so the path is returned unchanged.
    return path;
  }
}

/** The environment of a child and the project it is started in. */
interface ProgramSearch {
  /** The environment whose PATH is searched, as the child receives it; see `cleanPath`. */
  environment: Environment;
  /** Both absolute and real. */
  root: string;
  cwd: string;
}

// Never part of a project, even if the project is `/`.
const TRUSTED_DIRECTORIES: ReadonlySet<string> = new Set([
  "/usr/local/bin",
  "/usr/bin",
  "/bin",
  "/usr/sbin",
  "/sbin",
]);

const cleanPaths = new Map<string, string[]>();

/**
 * Where a child finds a program: `outside` the project, in the `project`, or nowhere. A version manager's shim counts
 * as the project's, since the project's files determine what it runs. Searched again each time, as the child does.
 */
export function findProgramLocation(name: string, search: ProgramSearch): "outside" | "project" | "nowhere" {
  for (const directory of searchedDirectories(search)) {
    const file = join(directory, name);
    const real = executableAt(file);
    if (real === undefined) continue;
    if (search.root === "/" && TRUSTED_DIRECTORIES.has(directory)) return "outside";
    const isProjects = isInside(real, search.root) || isInside(file, search.root);
    return isProjects || /\/shims\//.test(file) ? "project" : "outside";
  }
  return "nowhere";
}

function searchedDirectories({ environment, root, cwd }: ProgramSearch): readonly string[] {
  const key = JSON.stringify([environment.PATH, root, cwd]);
  const known = cleanPaths.get(key);
  if (known) return known;
  const directories = cleanPath(environment.PATH, { root, cwd }).split(delimiter);
  cleanPaths.set(key, directories);
  return directories;
}

function executableAt(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? realpathSync(file) : undefined;
  } catch {
    // Missing or not executable: the next directory is tried.
    return undefined;
  }
}
