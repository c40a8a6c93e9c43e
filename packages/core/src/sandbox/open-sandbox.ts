import { lstatSync } from "node:fs";
import { join } from "node:path";
import { findRealPath, isInside } from "../infrastructure/fs/real-path.ts";
import {
  protectedFileJournalDirectory,
  userConfigDirectory,
  userStateDirectory,
} from "../infrastructure/paths/user.ts";
import { resolveExecutable } from "../infrastructure/process/environment.ts";
import { runCommand } from "../infrastructure/process/run.ts";
import { homeDirectory, now, temporaryDirectory } from "../infrastructure/runtime.ts";
import { createProjectFinder, findSecretPaths } from "./box/hidden-paths.ts";
import { type Hardening, SandboxedShell } from "./box/sandboxed-command.ts";
import { SessionNamespace } from "./box/session-namespace.ts";
import { explainFailure, type SandboxProgram } from "./detect.ts";
import type { SessionNetwork } from "./network/session-network.ts";
import type { SandboxOptions } from "./session-sandbox.ts";
import { findOwnHomes, findSharedTemporary } from "./shared-temporary.ts";

export type OpenBoxOptions = Pick<
  SandboxOptions,
  "environment" | "root" | "isRootReadOnly" | "writable" | "directory" | "network"
> & {
  /** Whether commands may request to run outside; see `SandboxedShell`. */
  mayLeave: boolean;
  notify?: ((message: string) => void) | undefined;
  /** The start of the session in milliseconds since the epoch; by default now. */
  sessionStart?: number;
  /** See `SessionNamespace`. */
  maxProcesses?: number;
  /** By default, those of the system. */
  sharedTemporary?: readonly string[];
};

/** Directories with sockets of the system and of sessions. */
const RUNTIME_DIRECTORIES: readonly string[] = ["/run", "/var/run", "/mnt/wslg"];

const TRIAL_LIMIT_MS = 5_000;
const TOO_SLOW = `a command in it that does nothing took more than ${TRIAL_LIMIT_MS / 1000} s`;
// After that many failures for the same reason a sandbox cannot be made.
const MAX_SAME_FAILURES = 3;
// Sockets of other programs, each of which is hidden, come and go while a sandbox is being made.
const MAX_FAILURES = 10;

/** Creates a sandbox and tests it, or returns why that is not possible, as a clause. */
export async function openBox(
  program: SandboxProgram,
  options: OpenBoxOptions,
): Promise<{ box: SandboxedShell } | { problem: string }> {
  const problem = findObstacle(options);
  if (problem !== undefined) return { problem };
  const { notify } = options;
  for (const { path, held } of findWritable(options))
    if (held !== undefined)
      notify?.(
        `The sandbox keeps ${path} read-only although "sandboxWritable" names it, because it contains ${held}.`,
      );
  const [best, ...lesser] = HARDENINGS;
  const shared = await tryShared(program, options, best);
  if ("box" in shared) return shared;
  const firstNote = shared.problem && `${SEPARATE} (${shared.problem})`;
  const first = await tryBox(program, options, { hardening: best, firstNote });
  if (first.box) return { box: first.box };
  for (const hardening of first.mayDiffer && program.kind === "bubblewrap" ? lesser : []) {
    const { box } = await tryBox(program, options, { hardening, firstNote });
    if (box) return { box };
  }
  return { problem: first.problem };
}

/** Bubblewrap before 0.8, and a setuid bubblewrap, cannot forbid namespaces. */
const HARDENINGS: readonly [Hardening, ...Hardening[]] = [
  { forbidsNamespaces: true, filtersCalls: true },
  { forbidsNamespaces: false, filtersCalls: true },
  { forbidsNamespaces: false, filtersCalls: false },
];

interface Trial {
  box?: SandboxedShell;
  /** Why there is no sandbox, as a clause. */
  problem: string;
  /** True if less hardening may help. */
  mayDiffer: boolean;
}

const SEPARATE =
  "each command has processes and a localhost of its own on this system, so a server answers only within the command that starts it";

/**
 * The sandbox whose commands share the session's namespaces, or why it is not possible. A command that could create
 * namespaces of its own would leave the mount namespace by which its processes are identified.
 */
async function tryShared(
  program: SandboxProgram,
  options: OpenBoxOptions,
  hardening: Hardening,
): Promise<{ box: SandboxedShell } | { problem: string | undefined }> {
  const find = (name: string) =>
    resolveExecutable(name, { environment: options.environment, outside: options.root });
  const [nsenter, shell] = [find("nsenter"), find("sh")];
  if (program.kind !== "bubblewrap" || nsenter === undefined || shell === undefined)
    return { problem: undefined };
  let namespace: SessionNamespace | undefined;
  try {
    namespace = await SessionNamespace.open({
      bubblewrap: program.path,
      nsenter,
      shell,
      maxProcesses: options.maxProcesses,
    });
  } catch (error) {
    // A sandbox without shared namespaces may still be allowed.
    return { problem: explainFailure(error instanceof Error ? error.message : String(error)) };
  }
  const network = await openNetwork(options);
  const { box, problem } = await tryBox(program, options, { hardening, namespace, network });
  if (box) return { box };
  await namespace.end(problem);
  return { problem };
}

/** Nothing listens before the first command. */
async function openNetwork({
  environment,
  directory,
  network,
}: OpenBoxOptions): Promise<SessionNetwork | undefined> {
  if (network === undefined || network.setting === "off") return undefined;
  const { SessionNetwork } = await import("./network/session-network.ts");
  const { setting } = network;
  return new SessionNetwork({ ...network, setting, environment, directory: realPathOf(directory()) });
}

async function tryBox(
  program: SandboxProgram,
  options: OpenBoxOptions,
  setup: {
    hardening: Hardening;
    namespace?: SessionNamespace;
    network?: SessionNetwork | undefined;
    firstNote?: string | undefined;
  },
): Promise<Trial> {
  const { root, environment } = options;
  const shell = resolveExecutable("sh", { environment, outside: root });
  if (shell === undefined) return { problem: "sh not found in PATH", mayDiffer: false };
  try {
    const box = new SandboxedShell({ ...toBoxOptions(program, options), ...setup });
    const failures: string[] = [];
    for (;;) {
      const { end, said, failure } = await runTrial(box, shell, root);
      if (end.exitCode === 0) return { box, problem: "", mayDiffer: false };
      if (end.cause === "timeout") return { problem: TOO_SLOW, mayDiffer: false };
      failures.push(said);
      const same = failures.filter((each) => each === said);
      const isLast = failures.length === MAX_FAILURES || same.length === MAX_SAME_FAILURES;
      if (isLast || end.hasBegun || failure !== "mounts")
        return { problem: explainFailure(said), mayDiffer: true };
    }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), mayDiffer: true };
  }
}

async function runTrial(box: SandboxedShell, shell: string, cwd: string) {
  const trial = box.encloseTrial({ argv: [shell, "-c", ":"], cwd, environment: { PATH: "/usr/bin:/bin" } });
  let said = "";
  const end = await runCommand({
    ...trial,
    cwd,
    timeoutMs: TRIAL_LIMIT_MS,
    signal: new AbortController().signal,
    onOutput: (chunk) => {
      said += new TextDecoder().decode(chunk);
    },
  });
  return { end, said, failure: trial.findFailure(said.trimEnd()) };
}

/** A clause if files hidden from commands are in a directory that commands may write to. */
function findObstacle({ root, environment }: OpenBoxOptions): string | undefined {
  const holds = (path: string | undefined) => path !== undefined && isInside(realPathOf(path), root);
  // Includes the account's home directory: a process that runs as another user keeps the name of its own.
  if (root === "/" || findOwnHomes(environment).some(holds))
    return `the project ${root} contains your home directory`;
  if (holds(temporaryDirectory())) return `the project ${root} contains the temporary directory`;
  return holds(userStateDirectory(environment))
    ? `the project ${root} contains diligent's session directory`
    : undefined;
}

function toBoxOptions(program: SandboxProgram, options: OpenBoxOptions) {
  const { environment, root, directory, mayLeave, notify } = options;
  const homes = findOwnHomes(environment);
  const { sharedTemporary = findSharedTemporary(temporaryDirectory(), homes) } = options;
  const findOtherProjects = createProjectFinder(root, environment);
  return {
    program,
    root,
    isRootReadOnly: options.isRootReadOnly,
    writable: findWritable(options).flatMap(({ path, held }) => (held === undefined ? [path] : [])),
    directory: () => realPathOf(directory()),
    quarantine: findQuarantine(options),
    journalDirectory: protectedFileJournalDirectory(environment, root),
    findSecrets: () => [...findSecretPaths(environment), ...findOtherProjects()],
    homes,
    runtimeDirectories: RUNTIME_DIRECTORIES.filter(isDirectory),
    sharedTemporary: sharedTemporary.filter(isDirectory),
    mayLeave,
    notify,
    sessionStart: options.sessionStart ?? now(),
  };
}

/**
 * The additional directories that the user's configuration makes writable: those that exist, and for each the
 * protected paths that it contains. Commands could change everything that a sandbox is built from otherwise.
 */
function findWritable(options: OpenBoxOptions): { path: string; held: string | undefined }[] {
  const { environment, writable = [], directory } = options;
  const home = homeDirectory(environment);
  const paths = writable.flatMap((path) => expandHome(path, home)).map((path) => realPathOf(path));
  const own = [userConfigDirectory(environment), userStateDirectory(environment)];
  const kept: [name: string, paths: readonly (string | undefined)[]][] = [
    ["your home directory", findOwnHomes(environment)],
    ["the session's temporary files", [directory(), temporaryDirectory()]],
    ["diligent's own files", [...own, findQuarantine(options)]],
  ];
  const findHeld = (outer: string) =>
    kept.find(([, inner]) => inner.some((path) => path !== undefined && isInside(realPathOf(path), outer)));
  return paths.filter(isDirectory).map((path) => ({ path, held: findHeld(path)?.[0] }));
}

/** Where protected files created by sandboxed commands are moved to. */
export function findQuarantine({
  environment,
  directory,
}: Pick<SandboxOptions, "environment" | "directory">): string {
  return join(userStateDirectory(environment) ?? directory() ?? temporaryDirectory(), "quarantine");
}

function expandHome(path: string, home: string | undefined): string[] {
  if (!path.startsWith("~")) return [path];
  return home === undefined ? [] : [join(home, path.slice(1))];
}

function realPathOf(path: string): string;
function realPathOf(path: string | undefined): string | undefined;
function realPathOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : (findRealPath(path, "/") ?? path);
}

/** False for a link to a directory: a link stands for its target. */
function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}
