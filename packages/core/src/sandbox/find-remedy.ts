import { existsSync } from "node:fs";
import { readSmallText } from "../infrastructure/reading/small-text.ts";
import { NO_NAMESPACES, NO_PROCESS_VIEW, NOT_INSTALLED } from "./find-sandbox.ts";

const MAX_SETTING_BYTES = 64;

/** What the system says of itself; all paths are its own unless a test has others. */
export interface SystemPlaces {
  /** Where the kernel's settings are. */
  settings: string;
  /** One of them is there in a container. */
  containerMarks: readonly string[];
}

const SYSTEM: SystemPlaces = {
  settings: "/proc/sys",
  containerMarks: ["/.dockerenv", "/run/.containerenv"],
};

/**
 * What somebody can do where there is no box for the reason `problem`, as this library gives it: a line, the most likely
 * first. Undefined where there is nothing to be done about it.
 */
export function findRemedy(problem: string, places: SystemPlaces = SYSTEM): string | undefined {
  if (problem === NOT_INSTALLED) {
    return "install the package bubblewrap: apt-get install, dnf install, pacman -S or apk add bubblewrap";
  }
  if (problem.startsWith(NO_PROCESS_VIEW)) {
    return "start the container with --security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman)";
  }
  if (problem.startsWith(NO_NAMESPACES)) return findNamespaceRemedy(places);
  if (/ holds (?:your home|the temporary) directory$/.test(problem)) {
    return "work in a directory of the project's own, which holds neither";
  }
  return undefined;
}

/** Which of the system's settings it is. Where none of them says no, what this runs in does. */
function findNamespaceRemedy({ settings, containerMarks }: SystemPlaces): string {
  const read = (name: string) =>
    readSmallText(`${settings}/${name.replaceAll(".", "/")}`, MAX_SETTING_BYTES)?.trim();
  const allow = (name: string, value: number) => `allow them: sudo sysctl -w ${name}=${value}`;
  if (read("kernel.unprivileged_userns_clone") === "0") return allow("kernel.unprivileged_userns_clone", 1);
  if (read("user.max_user_namespaces") === "0") return allow("user.max_user_namespaces", 15_000);
  if (containerMarks.some((mark) => existsSync(mark))) {
    return "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (Docker)";
  }
  if (read("kernel.apparmor_restrict_unprivileged_userns") === "1") {
    return "AppArmor wants a profile for bwrap that allows userns: /etc/apparmor.d/bwrap (Ubuntu has bwrap-userns-restrict in apparmor-profiles)";
  }
  return "look at sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns, and at the options that this container was started with";
}
