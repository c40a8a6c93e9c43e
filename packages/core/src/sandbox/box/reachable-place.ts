import { lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { processAccount } from "../../infrastructure/environment.ts";
import { isOwn } from "../../infrastructure/reading/listing-rights.ts";

const GROUP_MAY_SEARCH = 0o010n;
const OTHERS_MAY_SEARCH = 0o001n;

/**
 * True for what is there and a command could reach. An administrator's commands have no power over others' directories in
 * the box, which cannot hide there what it cannot reach itself.
 */
export function isReachable(path: string): boolean {
  try {
    lstatSync(path);
    return !processAccount().isAdministrator || maySearch(dirname(path));
  } catch {
    return false; // Nothing to hide.
  }
}

/** Whether names in a directory can be reached without an administrator's power. */
function maySearch(directory: string): boolean {
  const stats = statSync(directory, { bigint: true });
  const right = isOwnGroup(stats.gid) ? GROUP_MAY_SEARCH : OTHERS_MAY_SEARCH;
  const isSearchable = isOwn(stats) || (stats.mode & right) !== 0n;
  return isSearchable && (directory === "/" || maySearch(dirname(directory)));
}

function isOwnGroup(group: bigint): boolean {
  return process.getgroups?.().includes(Number(group)) ?? false;
}
