import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import { formatSize } from "../../session-text.ts";
import { type Check, ok, warning } from "./check.ts";

// A long session with its tool results is some ten megabytes.
const LITTLE_SPACE_BYTES = 100 * 1024 * 1024;
const GIGABYTE = 1024 ** 3;
const OTHERS_MAY_WRITE = 0o022;
// Magic numbers of Linux (statfs(2)): proc, sysfs, cgroups. They say that they can be written to, even to root, and take no
// directory of anybody's.
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x9fa0, 0x62656572, 0x63677270, 0x27e0eb]);

/**
 * Whether something can be kept in a directory, which need not be there yet, and how much. Nothing is written.
 * @param name what it is to the user.
 */
export function checkPlace(name: string, directory: string): Check {
  const existing = findExisting(directory);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    if (!statSync(existing).isDirectory()) return unusable(name, `${existing} is no directory`);
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

function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path));
}
