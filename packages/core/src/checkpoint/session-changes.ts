import { type JudgeOptions, lookAtPath, type Present } from "./restore/judge-change.ts";
import { Slices } from "./slices.ts";
import type { BlobStore } from "./store/blob-store.ts";
import type { Step } from "./timeline/types.ts";
import { isSameState, type TreeEntry } from "./tree-entry.ts";
import type { PathVersion, SessionChange } from "./types.ts";

/** Every path that the steps have changed, before the first of them and now; without those that are as they were. */
export async function readVersions(steps: readonly Step[], judging: JudgeOptions): Promise<SessionChange[]> {
  const firsts = new Map<string, TreeEntry | undefined>();
  for (const { changes } of steps)
    for (const { path, before } of changes) if (!firsts.has(path)) firsts.set(path, before);
  const slices = new Slices();
  const versions: SessionChange[] = [];
  for (const [path, before] of [...firsts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    if (slices.isDue) await slices.pause();
    const present = await lookAtPath(path, judging);
    if (isUnchanged(before, present)) continue;
    versions.push({ path, before: toVersion(before, judging.store), now: toVersion(present, judging.store) });
  }
  return versions;
}

function isUnchanged(before: TreeEntry | undefined, present: Present): boolean {
  if (present?.kind === "special" || present?.kind === "unknown") return false;
  return isSameState(before, present);
}

function toVersion(entry: Present, store: BlobStore): PathVersion | undefined {
  switch (entry?.kind) {
    case undefined:
      return undefined;
    case "file": {
      const { mode, size, hash } = entry;
      return { kind: "file", mode, size, content: hash === undefined ? undefined : store.read(hash) };
    }
    case "link":
      return { kind: "link", target: entry.target };
    case "directory":
      return { kind: "directory", mode: entry.mode };
    default:
      return { kind: "other" };
  }
}
