import { accessSync, constants, existsSync, lstatSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import { type DiligentPaths, findDiligentDirObstacle } from "@diligent/core/light";
import { formatSize } from "../../session-text.ts";
import { type Check, ok, warning } from "./check.ts";

// A long session with its tool results is some ten megabytes.
const LITTLE_SPACE_BYTES = 100 * 1024 * 1024;
const GIGABYTE = 1024 ** 3;
const OTHERS_MAY_WRITE = 0o022;
// Magic numbers of Linux (statfs(2)): proc, sysfs, cgroups. They say that they can be written to, even to root, and take no
// directory of anybody's.
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x9fa0, 0x62656572, 0x63677270, 0x27e0eb]);

/** Whether sessions can be kept in a project. */
export function checkProjectPlace(paths: DiligentPaths): Check {
  const name = "project";
  try {
    const obstacle = findDiligentDirObstacle(paths);
    return obstacle === undefined ? checkPlace(name, paths.root) : unusable(name, obstacle);
  } catch (error) {
    return unusable(name, `${paths.root} cannot be used: ${systemErrorText(error)}`);
  }
}

/**
 * Whether something can be kept in a directory, which need not be there yet, and how much. Nothing is written.
 * @param name what it is to the user.
 */
export function checkPlace(name: string, directory: string): Check {
  const existing = findExisting(directory);
  try {
    if (!existsSync(existing)) return unusable(name, `${existing} is a symbolic link that leads nowhere`);
    if (!statSync(existing).isDirectory()) return unusable(name, `${existing} is a file, not a directory`);
    accessSync(existing, constants.W_OK | constants.X_OK);
    const { bavail, bsize, blocks, type } = statfsSync(existing);
    if (KERNEL_FILE_SYSTEMS.has(type))
      return unusable(name, `${directory} cannot be made: nothing is kept below ${existing}`);
    // A file system without a size, such as a tmpfs without a limit, tells of no room either.
    const free = blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
    const facts = Number.isFinite(free) ? `${directory}, ${formatSpace(free)} free` : directory;
    if (free < LITTLE_SPACE_BYTES) return warning(name, `${facts}: that is little`, "make room on this disk");
    const isOpen = existing === directory && (statSync(existing).mode & OTHERS_MAY_WRITE) !== 0;
    return isOpen
      ? warning(name, `${facts}; others may write to it`, `chmod go-w ${directory}`)
      : ok(name, facts);
  } catch (error) {
    return unusable(name, `${existing} cannot be written to: ${systemErrorText(error)}`);
  }
}

function unusable(name: string, reason: string): Check {
  return warning(name, reason, "nothing would be saved there");
}

function formatSpace(bytes: number): string {
  return bytes < GIGABYTE ? formatSize(bytes) : `${Math.round(bytes / GIGABYTE)} GB`;
}

/** The path, or the last of those above it, of which there is something: a link that leads nowhere is. */
function findExisting(path: string): string {
  return isThere(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Below a file, or where it may not be looked: what is above tells more.
    return false;
  }
}
