import { existsSync } from "node:fs";
import { readSmallText } from "../infrastructure/fs/read.ts";
import { resolveExecutable } from "../infrastructure/process/environment.ts";
import { type Environment, platformName, processAccount } from "../infrastructure/runtime.ts";

/** The system's program for sandboxing a command. */
export interface SandboxProgram {
  kind: "bubblewrap" | "seatbelt";
  /** Absolute. */
  path: string;
}

/** Where programs are searched; see `ExecutableSearch`. */
interface SandboxSearch {
  environment: Environment;
  /** The project. */
  root: string;
  platform?: string | undefined;
}

/**
 * Finds the sandbox program by name and location only, or returns why there is none, as a clause. Only a trial run
 * shows whether it works.
 */
export function findSandboxProgram({
  environment,
  root,
  platform = platformName(),
}: SandboxSearch): SandboxProgram | { problem: string } {
  const search = { environment, outside: root };
  if (platform === "darwin") {
    const path = resolveExecutable("sandbox-exec", search);
    return path === undefined ? { problem: "sandbox-exec not found" } : { kind: "seatbelt", path };
  }
  if (platform !== "linux") return { problem: `there is no sandbox for ${platform}` };
  const path = resolveExecutable("bwrap", search);
  return path === undefined ? { problem: NOT_INSTALLED } : { kind: "bubblewrap", path };
}

/** The beginnings of the problems that have a remedy; see `findRemedy`. */
const NOT_INSTALLED = "bubblewrap (the program bwrap) is not installed";
const NO_NAMESPACES = "this system refuses user namespaces";
const NO_PROCESS_VIEW = "this container does not allow a separate process view";

/** Why a sandbox could not be created, from its program's output, as a clause. */
export function explainFailure(stderr: string): string {
  const line = stderr.trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
  const isRefusal =
    /(?:namespace|uid map|gid map|setns|clone|userns).*(?:not permitted|denied|No space left|Invalid)/i.test(
      line,
    ) ||
    // The last message appears if AppArmor allows the namespace but removes its privileges.
    /No permissions to create|loopback: Failed RTM_.*(?:not permitted|denied)/i.test(line);
  if (isRefusal) return `${NO_NAMESPACES} (because of a container, AppArmor or a kernel setting): ${line}`;
  if (/proc.*not permitted/i.test(line)) return `${NO_PROCESS_VIEW}: ${line}`;
  return line === "" ? "bubblewrap failed without a message" : `bubblewrap cannot work here: ${line}`;
}

/** True if this process can read the administrator's files. */
export function isAdministrator(): boolean {
  return processAccount().isAdministrator;
}

const MAX_SETTING_BYTES = 64;

/** Where to read the system's settings; tests pass other paths. */
interface SystemLocations {
  /** The directory of the kernel's settings. */
  settings: string;
  /** Files of which at least one exists in a container. */
  containerMarks: readonly string[];
}

const SYSTEM: SystemLocations = {
  settings: "/proc/sys",
  containerMarks: ["/.dockerenv", "/run/.containerenv"],
};

/**
 * Suggests how to fix the missing sandbox, given the reason `problem` from this library: one line, the most likely
 * fix first. Undefined if there is no fix.
 */
export function findRemedy(problem: string, places: SystemLocations = SYSTEM): string | undefined {
  if (problem === NOT_INSTALLED) {
    return "install the package bubblewrap: apt-get install, dnf install, pacman -S or apk add bubblewrap";
  }
  if (problem.startsWith(NO_PROCESS_VIEW)) {
    return "start the container with --security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman)";
  }
  if (problem.startsWith(NO_NAMESPACES)) return findNamespaceRemedy(places);
  if (/ contains (?:your home|the temporary) directory$/.test(problem)) {
    return "work in a separate project directory that contains neither";
  }
  return undefined;
}

/** The setting that forbids namespaces. If none of them does, the container does. */
function findNamespaceRemedy({ settings, containerMarks }: SystemLocations): string {
  const read = (name: string) =>
    readSmallText(`${settings}/${name.replaceAll(".", "/")}`, MAX_SETTING_BYTES)?.trim();
  const allow = (name: string, value: number) => `allow them: sudo sysctl -w ${name}=${value}`;
  if (read("kernel.unprivileged_userns_clone") === "0") return allow("kernel.unprivileged_userns_clone", 1);
  if (read("user.max_user_namespaces") === "0") return allow("user.max_user_namespaces", 15_000);
  if (containerMarks.some((mark) => existsSync(mark))) {
    return "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (Docker)";
  }
  if (read("kernel.apparmor_restrict_unprivileged_userns") === "1") {
    return "AppArmor requires a profile for bwrap that allows userns: /etc/apparmor.d/bwrap (Ubuntu has bwrap-userns-restrict in apparmor-profiles)";
  }
  return "check sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns, and the options with which this container was started";
}
