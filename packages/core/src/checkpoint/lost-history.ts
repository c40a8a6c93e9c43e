import { readFileSync } from "node:fs";
import { type FileEntry, hasSameContent, type TreeChange, type TreeEntry, toAbsolute } from "./entries.ts";
import type { BlobStore } from "./store/blobs.ts";
import {
  type GitPath,
  parsePackedRefs,
  parseRef,
  readPackedRefs,
  readRefFile,
  toGitPath,
} from "./tree/git-refs.ts";
import { hashBytesOf, listPackedObjects, ObjectStore, parsePackIndex } from "./tree/object-store.ts";

/** What a command took away from a repository. */
export interface LostHistory {
  /** As paths of changes are given: relative to the project, absolute outside of it. */
  gitDirectory: string;
  isHeadLost: boolean;
  /** Names such as `refs/heads/main`. */
  refs: readonly string[];
  /** How many objects. */
  objects: number;
  /** Some of their ids: whether these are there tells whether all are. */
  samples: readonly string[];
}

const LOOSE_OBJECT = /^objects\/([0-9a-f]{2})\/([0-9a-f]{38}(?:[0-9a-f]{24})?)$/;
const PACK = /^objects\/pack\/(pack-[0-9a-f]+)\.pack$/;

const MAX_SAMPLES = 5;

/** The files with refs of a project's repositories when a session began: what the session makes itself is no loss. */
export type KnownRefs = ReadonlyMap<string, FileEntry>;

export function selectRefs(entries: ReadonlyMap<string, TreeEntry>): KnownRefs {
  const refs = new Map<string, FileEntry>();
  for (const [path, entry] of entries) {
    const isMeant = entry.kind === "file" && !entry.isObject && /(?:\/refs\/|\/packed-refs$)/.test(path);
    if (isMeant && toGitPath(path)) refs.set(path, entry);
  }
  return refs;
}

/** What is known of the repositories of a project. */
interface HistoryOptions {
  /** Absolute and real. */
  root: string;
  /** Has what was there before. */
  store: BlobStore;
  knownRefs: KnownRefs;
}

/** A path that is gone, or no longer what it was. */
type Gone = GitPath & { path: string; before: FileEntry };

/** What changes took away from repositories; nothing for git's own work, such as packing refs and objects. */
export function findLostHistory(changes: readonly TreeChange[], options: HistoryOptions): LostHistory[] {
  const byRepository = new Map<string, Gone[]>();
  for (const change of changes) {
    const gone = toGone(change);
    if (!gone) continue;
    const found = byRepository.get(gone.gitDirectory);
    if (found) found.push(gone);
    else byRepository.set(gone.gitDirectory, [gone]);
  }
  return [...byRepository].flatMap(([gitDirectory, gone]) => {
    const directory = toAbsolute(options.root, gitDirectory);
    const isHeadLost = gone.some(({ name }) => name === "HEAD") && !readRefFile(directory, "HEAD");
    const refs = findLostRefs(gone, { ...options, gitDirectory });
    const objects = findLostObjects(gone, { ...options, gitDirectory });
    if (!isHeadLost && refs.length === 0 && objects.length === 0) return [];
    const samples = objects.slice(0, MAX_SAMPLES);
    return [{ gitDirectory, isHeadLost, refs, objects: objects.length, samples }];
  });
}

/** Where a file stays, git's own work changes refs and never objects. */
function toGone({ path, before, after }: TreeChange): Gone | undefined {
  const place = before?.kind === "file" ? toGitPath(path) : undefined;
  if (before?.kind !== "file" || !place) return undefined;
  const isChangedObject =
    place.name.startsWith("objects/") && !(after?.kind === "file" && hasSameContent(before, after));
  const isGone = after === undefined || place.name === "packed-refs" || isChangedObject;
  return isGone ? { ...place, path, before } : undefined;
}

type LossOptions = HistoryOptions & Pick<GitPath, "gitDirectory">;

function findLostRefs(
  gone: readonly Gone[],
  { root, store, knownRefs, gitDirectory }: LossOptions,
): string[] {
  const before = listRefs(gone, store);
  if (before.length === 0) return [];
  const directory = toAbsolute(root, gitDirectory);
  const known = new Set(
    listRefs(
      [...knownRefs].flatMap(([path, entry]) => {
        const place = toGitPath(path);
        return place?.gitDirectory === gitDirectory ? [{ ...place, path, before: entry }] : [];
      }),
      store,
    ),
  );
  const packed = readPackedRefs(directory);
  const isLost = (name: string) =>
    known.has(name) && !packed.has(name) && readRefFile(directory, name) === undefined;
  return [...new Set(before)].filter(isLost).sort();
}

function listRefs(files: readonly Gone[], store: BlobStore): string[] {
  return files.flatMap(({ name, before }) => {
    if (name !== "packed-refs" && !name.startsWith("refs/")) return [];
    const text = Buffer.from(readKept(before, store) ?? []).toString("latin1");
    if (name === "packed-refs") return [...parsePackedRefs(text).keys()];
    return parseRef(text) === undefined ? [] : [name];
  });
}

function findLostObjects(gone: readonly Gone[], { root, store, gitDirectory }: LossOptions): string[] {
  const directory = toAbsolute(root, gitDirectory);
  const ids = gone.flatMap(({ name }) => {
    const [, start, end] = LOOSE_OBJECT.exec(name) ?? [];
    if (start !== undefined) return [`${start}${end}`];
    const [, pack] = PACK.exec(name) ?? [];
    if (pack === undefined) return [];
    const index = readIndex(pack, gone, { directory, store });
    return index ? listPackedObjects(index) : [];
  });
  if (ids.length === 0) return [];
  const present = new ObjectStore(`${directory}/objects`);
  return [...new Set(ids)].filter((id) => !present.has(id));
}

/** The index of a pack, which may have gone with it. */
function readIndex(
  pack: string,
  gone: readonly Gone[],
  { directory, store }: { directory: string; store: BlobStore },
) {
  const index = gone.find(({ name }) => name === `objects/pack/${pack}.idx`);
  const content = index
    ? readKept(index.before, store)
    : readQuietly(`${directory}/objects/pack/${pack}.idx`);
  return content && parsePackIndex(content, hashBytesOf(pack));
}

function readKept(entry: FileEntry, store: BlobStore): Uint8Array | undefined {
  if (entry.hash !== undefined) return store.read(entry.hash);
  const kept = entry.isWholeFile ? store.largeFiles.find(entry) : undefined;
  return kept === undefined ? undefined : readQuietly(kept);
}

function readQuietly(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined; // Gone: then nothing can be said of it.
  }
}

/** False where all of it is back: `HEAD` and the refs lead somewhere, and the objects are there. */
export function isStillLost(
  root: string,
  { gitDirectory, isHeadLost, refs, samples }: LostHistory,
  { isSevereOnly = false }: { isSevereOnly?: boolean } = {},
): boolean {
  const directory = toAbsolute(root, gitDirectory);
  const objects = new ObjectStore(`${directory}/objects`);
  if (isHeadLost && readRefFile(directory, "HEAD") === undefined) return true;
  if (samples.some((id) => !objects.has(id))) return true;
  if (isSevereOnly || refs.length === 0) return false;
  const packed = readPackedRefs(directory);
  return refs.some((name) => !packed.has(name) && readRefFile(directory, name) === undefined);
}

const MAX_NAMED = 5;

/** What was taken away, as a list: `HEAD, 2 refs (main, stash) and 12 objects from .git`. */
export function describeLoss(lost: readonly LostHistory[]): string {
  const [first, ...others] = lost;
  if (!first) return "";
  const { gitDirectory, isHeadLost, refs, objects } = first;
  const parts = [
    ...(isHeadLost ? ["HEAD"] : []),
    ...(refs.length > 0 ? [`${countOf(refs.length, "ref")} (${listNames(refs)})`] : []),
    ...(objects > 0 ? [countOf(objects, "object")] : []),
  ];
  const last = parts.pop();
  const list = parts.length > 0 ? `${parts.join(", ")} and ${last}` : last;
  const more = others.length > 0 ? ` (and from ${others.map((each) => each.gitDirectory).join(", ")})` : "";
  return `${list} from ${gitDirectory}${more}`;
}

function listNames(refs: readonly string[]): string {
  const names = refs.slice(0, MAX_NAMED).map((ref) => ref.replace(/^refs\/(?:heads\/)?/, ""));
  return refs.length > MAX_NAMED ? `${names.join(", ")} …` : names.join(", ");
}

function countOf(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count.toLocaleString("en")} ${noun}s`;
}
