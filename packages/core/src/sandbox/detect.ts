import { existsSync } from "node:fs";
import { readSmallText } from "../infrastructure/fs/read.ts";
import { resolveExecutable } from "../infrastructure/process/environment.ts";
import { type Environment, platformName, processAccount } from "../infrastructure/runtime.ts";

/** The program with which the system can sandbox a command. */
export interface SandboxProgram {
  kind: "bubblewrap" | "seatbelt";
  /** Absolute. */
  path: string;
}

/** Where to look for programs; see `ExecutableSearch`. */
interface SandboxSearch {
  environment: Environment;
  /** The project. */
  root: string;
  platform?: string | undefined;
}

/**
 * Finds the sandbox program by its name and location alone; or says why there is none, in half a sentence. Only a
 * trial shows whether it works.
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

/** How the reasons begin that something can be done about; see `findRemedy`. */
const NOT_INSTALLED = "bubblewrap (the program bwrap) is not installed";
const NO_NAMESPACES = "this system refuses user namespaces";
const NO_PROCESS_VIEW = "this container does not allow a separate process view";

/** Why a sandbox could not be created, from what its program said, half a sentence. */
export function explainFailure(stderr: string): string {
  const line = stderr.trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
  const isRefusal =
    /(?:namespace|uid map|gid map|setns|clone|userns).*(?:not permitted|denied|No space left|Invalid)/i.test(
      line,
    ) ||
    // The last is how it ends where AppArmor lets the namespace be and takes its rights.
    /No permissions to create|loopback: Failed RTM_.*(?:not permitted|denied)/i.test(line);
  if (isRefusal) return `${NO_NAMESPACES} (a container, AppArmor or a kernel setting does): ${line}`;
  if (/proc.*not permitted/i.test(line)) return `${NO_PROCESS_VIEW}: ${line}`;
  return line === "" ? "bubblewrap failed without a message" : `bubblewrap cannot work here: ${line}`;
}

/** True where this process has the administrator's files for its own. */
export function isAdministrator(): boolean {
  return processAccount().isAdministrator;
}

const MAX_SETTING_BYTES = 64;

/** What the system says of itself; all paths are its own unless a test has others. */
interface SystemLocations {
  /** Where the kernel's settings are. */
  settings: string;
  /** One of them is there in a container. */
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

/** Which of the system's settings it is. Where none of them says no, what this runs in does. */
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
