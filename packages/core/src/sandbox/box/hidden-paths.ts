import { accessSync, constants, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isOwn } from "../../infrastructure/fs/directory.ts";
import { readRecentInputs } from "../../infrastructure/fs/input-history.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { listNames } from "../../infrastructure/fs/stat.ts";
import { isExampleName } from "../../infrastructure/paths/example-names.ts";
import { hasTrackedContent } from "../../infrastructure/paths/git-index.ts";
import { findMainProject } from "../../infrastructure/paths/main-project.ts";
import { findProjectRoot } from "../../infrastructure/paths/project.ts";
import { isSecretFile, SECRET_HOME_LOCATIONS } from "../../infrastructure/paths/secret-files.ts";
import { userConfigDirectory, userStateDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, processAccount } from "../../infrastructure/runtime.ts";
import type { ProtectedFile } from "../protected-files/types.ts";
import { findOwnHomes } from "../shared-temporary.ts";

/** Additional paths in a home directory where programs keep credentials or conversations. */
const HOME_PLACES: readonly string[] = [
  ...SECRET_HOME_LOCATIONS,
  // Directories hidden completely, including files that are created in them later.
  ...[".aws", ".docker", ".kube", ".oci", ".aliyun", ".fly", ".netlify", ".vercel", ".terraform.d"],
  ...[".1password", ".mozilla", ".librewolf", ".thunderbird", ".claude", ".claude.json", ".codex", ".gemini"],
  ...[".local/share/keyrings", ".local/share/kwalletd", ".local/share/opencode", ".yarnrc.yml"],
  ...[".databrickscfg", ".Xauthority", ".ICEauthority", ".python_history", ".node_repl_history"],
  // Keys of services, package registries and models; shell histories.
  ...[".pulumi/credentials.json", ".sbt/.credentials", ".ivy2/.credentials", ".composer/auth.json"],
  ...[".sentryclirc", ".circleci", ".cloudflared", ".wrangler", ".kaggle", ".cache/huggingface/token"],
  ...[".huggingface", ".continue", ".codeium", ".aider.conf.yml", ".local/share/com.vercel.cli", ".railway"],
  ...[".supabase", ".expo", ".bluemix", ".snowsql", ".snowflake", ".dbt/profiles.yml", ".rclone.conf"],
  ...[".msmtprc", ".fetchmailrc", ".smbcredentials", ".passwd-s3fs", ".mylogin.cnf", ".vnc", ".pki"],
  ...[".ngrok2", ".bitcoin", ".ethereum", ".electrum", ".ollama/id_ed25519", ".local/share/atuin"],
  ...[".mysql_history", ".sqlite_history", ".rediscli_history", ".irb_history", ".histfile", ".lesshst"],
  ...[".viminfo", ".local/share/fish/fish_history", ".local/share/goose", ".local/share/crush"],
  // Flatpak and snap programs keep settings, profiles and keys here.
  ...[".var/app", "snap/firefox", "snap/chromium", "snap/thunderbird"],
];

/** In the configuration directory, which the environment may name. */
const CONFIG_PLACES: readonly string[] = [
  ...["google-chrome", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "opera", "librewolf"],
  ...["Code", "Code - Insiders", "VSCodium", "Cursor", "gh", "hub", "glab-cli", "op", "rclone", "heroku"],
  ...["doctl", "github-copilot", "containers", "sops", "age", "pulumi", "1Password", "gcloud"],
  ...["git/credentials", "Bitwarden", "Bitwarden CLI", "Signal", "Slack", "discord"],
  ...["configstore", "stripe", "ngrok", ".wrangler", "solana", "pypoetry/auth.toml", "composer/auth.json"],
  ...["hcloud", "scw", "linode-cli", "openstack", "turborepo", "huggingface", "remmina"],
];

/** System files that only an administrator may read; hidden if commands run as one. */
const SYSTEM_PLACES: readonly string[] = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/sudoers"],
  ...["/etc/sudoers.d", "/etc/ssl/private", "/etc/wireguard", "/etc/NetworkManager/system-connections"],
  ...["/etc/kubernetes", "/var/lib/kubelet", "/var/run/secrets"],
  ...["rsa", "ecdsa", "ed25519", "dsa"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
];

/** Keys, credentials, and diligent's own files and those of other projects: existing paths, absolute. */
export function findSecretPaths(environment: Environment): string[] {
  const own = [userConfigDirectory(environment), userStateDirectory(environment)];
  const inHomes = [...findHomes(environment)].flatMap((home) => [
    ...HOME_PLACES.map((place) => join(home, place)),
    ...CONFIG_PLACES.map((place) => join(home, ".config", place)),
    ...listNames(home)
      .filter((name) => isSecretFile(name))
      .map((name) => join(home, name)),
  ]);
  const system = SYSTEM_PLACES.filter(isReadable);
  const runtime = environment.XDG_RUNTIME_DIR || undefined;
  const named = environment.XDG_CONFIG_HOME;
  // The XDG specification says to ignore relative paths.
  const inConfig = named && isAbsolute(named) ? CONFIG_PLACES.map((place) => join(named, place)) : [];
  return [...own, runtime, ...inHomes, ...inConfig, ...system]
    .flatMap((place) => place ?? [])
    .filter(isReachable);
}

/** The user's home directories from the environment and the system; for an administrator, those of all users. */
function findHomes(environment: Environment): Set<string> {
  const { isAdministrator } = processAccount();
  const others = isAdministrator ? ["/root", ...listNames("/home").map((name) => join("/home", name))] : [];
  return new Set([...findOwnHomes(environment), ...others]);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // The system itself denies access.
  }
}

// Neighboring and visited projects; if there are more, the most recent ones.
const MAX_PROJECTS = 100;
const MAX_NEIGHBOURS = 2_000;
const MAX_INPUTS = 2_000;

/**
 * Finds `.diligent` of other projects: those beside this one, and those in which prompts were sent before. The list
 * of prompts is read once; whether the directories exist is checked each time.
 */
export function createProjectFinder(root: string, environment: Environment): () => string[] {
  let visited: readonly string[] | undefined;
  // A worktree of ours lies in the data of its main project.
  const own = [root, findMainProject(root)];
  return () => {
    visited ??= findVisited(environment);
    const neighbours = directoriesIn(dirname(root)).slice(0, MAX_NEIGHBOURS);
    const others = [...new Set([...visited, ...neighbours])].filter((directory) => !own.includes(directory));
    return others
      .map((directory) => join(directory, ".diligent"))
      .filter(isReachable)
      .slice(0, MAX_PROJECTS);
  };
}

function findVisited(environment: Environment): string[] {
  const home = homeDirectory(environment);
  const inputs = readRecentInputs(environment, { root: "/", limit: MAX_INPUTS });
  return [...new Set(inputs.map(({ cwd }) => cwd))].flatMap((cwd) => findRoot(cwd, home));
}

function findRoot(cwd: string, home: string | undefined): string[] {
  try {
    return [findProjectRoot(cwd, home)];
  } catch {
    return []; // A deleted project has no sessions either.
  }
}

function directoriesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => !entry.isFile()).map(({ name }) => join(directory, name));
  } catch {
    return []; // This user may not list it.
  }
}

const TABLE = "/proc/net/unix";

// In addition to those in directories that are hidden completely; a desktop has only a few.
const MAX_SOCKETS = 150;

/**
 * The sockets with a path on which a process outside listens: a network namespace does not separate a command from
 * them. Sockets bound by a relative name are searched in the working directories of processes. Without sockets below
 * `hidden`. Empty if the system does not list them.
 *
 * @throws Error if there are more than can be hidden.
 */
export function findSockets(hidden: readonly string[]): string[] {
  const names = readTable()
    .split("\n")
    .flatMap((line) => /^\S+(?: \S+){5}\s+\d+ ([^@].*)$/.exec(line)?.[1] ?? []);
  const relative = [...new Set(names.filter((name) => !isAbsolute(name)))];
  const directories = relative.length > 0 ? findWorkingDirectories() : [];
  const paths = [
    ...names.filter((name) => isAbsolute(name)),
    ...relative.flatMap((name) => directories.map((directory) => join(directory, name))),
  ];
  const isHidden = (path: string) => hidden.some((directory) => path.startsWith(`${directory}/`));
  const found = [...new Set(paths)].filter((path) => !isHidden(path) && isSocket(path) && isReachable(path));
  if (found.length > MAX_SOCKETS)
    throw new Error(
      `${found.length} sockets would have to be hidden from commands; at most ${MAX_SOCKETS} are possible`,
    );
  return found;
}

/** The working directories of the processes that this user may inspect. */
function findWorkingDirectories(): string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return [...new Set(processes.flatMap(readWorkingDirectory))];
}

function readWorkingDirectory(process: string): string[] {
  try {
    return [readlinkSync(`/proc/${process}/cwd`)];
  } catch {
    return []; // The process has ended or belongs to another user.
  }
}

function readTable(): string {
  try {
    return readFileSync(TABLE, "utf8");
  } catch {
    return ""; // Not Linux.
  }
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false; // Removed since it was bound, or in another mount namespace.
  }
}

/** Files from which tools read settings and passwords. */
const ENVIRONMENT_FILE = /^\.env(?!rc$)/i;

/**
 * The `.env` files of the project that commands may not read, and that the read tool may read only with approval.
 * Files whose content is committed are excluded: a command can read it from the repository anyway, and git could not
 * work with a file that it cannot read.
 */
export function findUnreadableFiles(files: Iterable<ProtectedFile>, roots: readonly string[]): string[] {
  return [...files].flatMap(({ kind, path }) => {
    const name = basename(path);
    if (kind !== "file" || !ENVIRONMENT_FILE.test(name) || isExampleName(name)) return [];
    const root = roots.find((each) => isInside(path, each));
    return root !== undefined && hasTrackedContent(root, path.slice(root.length + 1)) ? [] : [path];
  });
}

const GROUP_MAY_SEARCH = 0o010n;
const OTHERS_MAY_SEARCH = 0o001n;

/**
 * True for an existing path that a command could reach. In the sandbox, an administrator's commands cannot access
 * other users' private directories, and bubblewrap cannot hide paths that it cannot reach.
 */
function isReachable(path: string): boolean {
  try {
    // An error for each place that is not there would take most of the time.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
    return !processAccount().isAdministrator || maySearch(dirname(path));
  } catch {
    return false; // The path does not exist, so there is nothing to hide.
  }
}

/** True if a directory can be searched without administrator privileges. */
function maySearch(directory: string): boolean {
  const stats = statSync(directory, { bigint: true });
  const right = isOwnGroup(stats.gid) ? GROUP_MAY_SEARCH : OTHERS_MAY_SEARCH;
  const isSearchable = isOwn(stats) || (stats.mode & right) !== 0n;
  return isSearchable && (directory === "/" || maySearch(dirname(directory)));
}

function isOwnGroup(group: bigint): boolean {
  return process.getgroups?.().includes(Number(group)) ?? false;
}
