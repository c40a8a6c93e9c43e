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
  return path === undefined
    ? { problem: "bubblewrap (the program bwrap) is not installed" }
    : { kind: "bubblewrap", path };
}

/** Why a box could not be made, from what its program said, half a sentence. */
export function explainFailure(stderr: string): string {
  const line = stderr.trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
  const isRefusal =
    /(?:namespace|uid map|gid map|setns|clone|userns).*(?:not permitted|denied|No space left|Invalid)/i.test(
      line,
    ) || /No permissions to create/i.test(line);
  if (isRefusal) {
    return `this system refuses user namespaces (a container, AppArmor or a kernel setting does): ${line}`;
  }
  if (/proc.*not permitted/i.test(line)) return `this container allows no process view of its own: ${line}`;
  return line === "" ? "bubblewrap ended without a word" : `bubblewrap cannot work here: ${line}`;
}

/** True where this process has the administrator's files for its own. */
export function isAdministrator(): boolean {
  return processAccount().isAdministrator;
}
