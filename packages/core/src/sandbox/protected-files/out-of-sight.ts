import { realpathSync } from "node:fs";
import type { LocatedDirectory } from "../../infrastructure/fs/listing-restorer.ts";
import { directoryOf, lookAt, namesIn } from "../../infrastructure/fs/seen-file.ts";
import { fromNameBytes, toSystemPath } from "../../infrastructure/fs/stat.ts";
import type { ProtectedFileScanner } from "./scan.ts";
import type { ProtectedFile, ProtectedFileScan } from "./types.ts";

// One who hides directories in each other gets no further scans for it.
const MAX_SCANS = 4;

// About half a second; only searched when protected files disappeared with their directories.
const MAX_SEARCHED = 30_000;

/**
 * Scans, and again where directories that were scanned before have been moved to where nothing is scanned: they are followed
 * there. `lost` are protected files that may be anywhere.
 */
export function scanEverywhere(
  scanner: ProtectedFileScanner,
  before: ProtectedFileScan,
  scan: () => ProtectedFileScan,
): { after: ProtectedFileScan; lost: readonly ProtectedFile[] } {
  let after = scan();
  for (let scans = 1; scans < MAX_SCANS; scans += 1) {
    // What is still to be made listable may hold what is missing.
    const isListable = [...after.unlistable.keys()].every((identity) => before.unlistable.has(identity));
    if (!after.isComplete || !isListable) break;
    const gone = findGone(before, after);
    const { found, isComplete } = search(findAround(gone, before), after);
    const all = [...findLinked(before, after), ...found];
    if (all.length === 0) return { after, lost: isComplete ? [] : gone };
    scanner.follow(all);
    after = scan();
  }
  return { after, lost: [] };
}

/** Directories in whose place there is a link that leads to them. Of those that are gone, the outermost. */
function findLinked(before: ProtectedFileScan, after: ProtectedFileScan): LocatedDirectory[] {
  if (before.directories === after.directories) return [];
  return [...before.directories].flatMap(([path, identity]) => {
    if (after.directories.has(path) || !after.directories.has(directoryOf(path))) return [];
    const target = lookAt(path)?.kind === "link" ? findTarget(path) : undefined;
    if (target === undefined || after.directories.has(target)) return [];
    return lookAt(target)?.identity === identity ? [{ path: target, identity }] : [];
  });
}

function findTarget(link: string): string | undefined {
  try {
    return fromNameBytes(realpathSync(toSystemPath(link), { encoding: "buffer" }));
  } catch {
    return undefined; // It leads nowhere.
  }
}

/** Protected files that cannot be found any more. In a sandbox they can only be moved together with a directory. */
function findGone(before: ProtectedFileScan, after: ProtectedFileScan): ProtectedFile[] {
  const held = [...before.files.values()].filter(({ kind, isByName }) => isByName && kind !== "link");
  const gone = held.filter(({ path }) => !after.files.has(path));
  const identities = new Set(gone.length > 0 ? [...after.files.values()].map((file) => file.identity) : []);
  return gone.filter(({ identity }) => !identities.has(identity));
}

/** The directories around them, by identity. */
function findAround(gone: readonly ProtectedFile[], { directories }: ProtectedFileScan): Set<string> {
  const around = new Set(gone.map(({ parentIdentity }) => parentIdentity));
  for (const { path } of gone)
    for (let outer = directoryOf(path); outer !== ""; outer = directoryOf(outer))
      around.add(directories.get(outer) ?? "");
  return around;
}

/** Searches what is not scanned otherwise and can be written to. The outermost only. */
function search(wanted: ReadonlySet<string>, { skipped, gitDirectories }: ProtectedFileScan) {
  const found: LocatedDirectory[] = [];
  const places = wanted.size === 0 ? [] : [...skipped, ...gitDirectories];
  for (const [index, path] of places.entries()) {
    if (index >= MAX_SEARCHED) return { found, isComplete: false };
    const seen = lookAt(path);
    if (seen?.kind !== "directory") continue;
    if (wanted.has(seen.identity)) found.push({ path, identity: seen.identity });
    else for (const name of namesIn(path) ?? []) places.push(`${path}/${name}`);
  }
  return { found, isComplete: true };
}
