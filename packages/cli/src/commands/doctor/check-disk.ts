import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorText } from "@diligent/core/interactive";
import { formatSize } from "../../session-text.ts";
import { type Check, ok, warning } from "./check.ts";

// A long session with its tool results is some ten megabytes.
const LITTLE_SPACE_BYTES = 100 * 1024 * 1024;
const GIGABYTE = 1024 ** 3;
const OTHERS_MAY_WRITE = 0o022;

/**
 * Whether something can be kept in a directory, which need not be there yet, and how much. Nothing is written.
 * @param name what it is to the user.
 */
export function checkPlace(name: string, directory: string): Check {
  const existing = findExisting(directory);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(existing);
    const free = bavail * bsize;
    const facts = `${directory}, ${formatSpace(free)} free`;
    if (free < LITTLE_SPACE_BYTES) return warning(name, `${facts}: that is little`, "make room on this disk");
    const isOpen = existing === directory && (statSync(existing).mode & OTHERS_MAY_WRITE) !== 0;
    return isOpen
      ? warning(name, `${facts}; others may write to it`, `chmod go-w ${directory}`)
      : ok(name, facts);
  } catch (error) {
    const reason = systemErrorText(error);
    return warning(name, `${existing} cannot be written to: ${reason}`, "nothing would be saved there");
  }
}

function formatSpace(bytes: number): string {
  return bytes < GIGABYTE ? formatSize(bytes) : `${Math.round(bytes / GIGABYTE)} GB`;
}

function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path));
}
