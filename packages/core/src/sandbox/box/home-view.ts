import { readdirSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { readSmallText } from "../../infrastructure/reading/small-text.ts";

/** A home directory as a command sees it: what lies in it, but for what is hidden. */
export interface HomeView {
  /** Absolute and real. */
  directory: string;
  /** Files and directories, absolute. */
  shown: readonly string[];
  /** Links, and where they lead as they are written. */
  links: readonly { path: string; target: string }[];
}

const MAX_MOUNT_TABLE_BYTES = 1024 * 1024;

/**
 * Made anew, a home directory shows neither what takes the place of a hidden file while a command runs nor what comes
 * about in it, and none of its pipes and sockets. Undefined where it holds too much for that, where other file systems
 * are mounted in it, and where it cannot be read.
 *
 * @param directory absolute and real.
 * @param options.isHidden of names in it.
 */
export function findHomeView(
  directory: string,
  { maxShown, isHidden }: { maxShown: number; isHidden(name: string): boolean },
): HomeView | undefined {
  try {
    if (holdsMounts(directory)) return undefined;
    const shown: string[] = [];
    const links: { path: string; target: string }[] = [];
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`;
      // What a name that is no text stands for cannot be said on a command line.
      if (isHidden(entry.name) || entry.name.includes("\u{fffd}")) continue;
      if (entry.isSymbolicLink()) links.push({ path, target: readlinkSync(path) });
      else if (entry.isDirectory() || entry.isFile()) shown.push(path);
    }
    return shown.length > maxShown ? undefined : { directory, shown, links };
  } catch {
    return undefined; // Not there, or it changes in this moment: what is hidden in it is hidden one by one.
  }
}

/** Right in it: to touch what is mounted there may fail, or take as long as a network does. */
function holdsMounts(directory: string): boolean {
  const table = readSmallText("/proc/self/mountinfo", MAX_MOUNT_TABLE_BYTES) ?? "";
  return table.split("\n").some((line) => dirname(line.split(" ")[4] ?? "") === directory);
}
