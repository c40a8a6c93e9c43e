import { type Environment, platformName, processAccount } from "../infrastructure/environment.ts";
import { resolveExecutable } from "../infrastructure/processes/executables.ts";

/** What the system has for keeping a command in a box. */
export interface SandboxProgram {
  kind: "bubblewrap" | "seatbelt";
  /** Absolute. */
  path: string;
}

/** Where to look for programs; see `ExecutableSearch`. */
export interface SandboxSearch {
  environment: Environment;
  /** The project. */
  root: string;
  platform?: string | undefined;
}

/**
 * What commands could be kept in a box with, found by its name and place alone; or why there is nothing, half a sentence.
 * Whether it works is seen only by trying.
 */
export function findSandboxProgram({
  environment,
  root,
  platform = platformName(),
}: SandboxSearch): SandboxProgram | { problem: string } {
  const search = { environment, outside: root };
  if (platform === "darwin") {
    const path = resolveExecutable("sandbox-exec", search);
    return path === undefined ? { problem: "sandbox-exec is not there" } : { kind: "seatbelt", path };
  }
  if (platform !== "linux") return { problem: `there is none for ${platform}` };
  const path = resolveExecutable("bwrap", search);
  return path === undefined ? { problem: NOT_INSTALLED } : { kind: "bubblewrap", path };
}

/** How the reasons begin that something can be done about; see `findRemedy`. */
export const NOT_INSTALLED = "bubblewrap (the program bwrap) is not installed";
export const NO_NAMESPACES = "this system refuses user namespaces";
export const NO_PROCESS_VIEW = "this container allows no process view of its own";

/** Why a box could not be made, from what its program said, half a sentence. */
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
  return line === "" ? "bubblewrap ended without a word" : `bubblewrap cannot work here: ${line}`;
}

/** True where this process has the administrator's files for its own. */
export function isAdministrator(): boolean {
  return processAccount().isAdministrator;
}
