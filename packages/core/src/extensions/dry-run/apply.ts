import {
  chmodSync,
  closeSync,
  constants,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { copyFile, type FileHandle, open, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { DESCRIPTORS, HeldDirectory } from "../../infrastructure/fs/real-path.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { removeTree } from "../../infrastructure/fs/state-files.ts";
import { randomHex } from "../../infrastructure/runtime.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import { findApplicable, type TriedChange, type TriedChanges } from "./changes.ts";
import { type EntryState, listIdentities, readEntryState } from "./entry-state.ts";

/** The project has changed since the view was made, or between the diff and now; nothing was applied. */
export class ProjectChangedError extends Error {
  constructor(paths: readonly string[]) {
    const shown = paths.slice(0, MAX_NAMED).join(", ");
    const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : "";
    super(`Nothing was applied, because the project has changed meanwhile: ${shown}${more}.`);
  }
}

const MAX_NAMED = 5;

/**
 * Makes the changes in the project, all or none: new contents are written beside the project's files first, then moved
 * into place, and moved back where one fails. What is refused is left out.
 * @throws ProjectChangedError, and errors of the file system; nothing has changed then.
 */
export async function applyChanges({ changes, changedMeanwhile, unchanged }: TriedChanges): Promise<void> {
  const wanted = findApplicable(changes);
  assertUnchanged(wanted, changedMeanwhile);
  const staging = new Staging();
  try {
    const staged = await staging.write(wanted, unchanged);
    assertUnchanged(wanted, []);
    commit(wanted, staged, staging);
  } finally {
    staging.remove();
  }
}

function assertUnchanged(changes: readonly TriedChange[], known: readonly string[]): void {
  const deleted = new Set(changes.flatMap(({ path, after }) => (after ? [] : [path])));
  const changed = changes.filter((change) => !isUnchanged(change, deleted)).map(({ path }) => path);
  const all = [...new Set([...known, ...changed])];
  if (all.length > 0) throw new ProjectChangedError(all);
}

function isUnchanged({ path, before, after, below }: TriedChange, deleted: ReadonlySet<string>): boolean {
  const now = readEntryState(path);
  // What it replaces is a change of its own.
  if (before === undefined) return now === undefined || deleted.has(path);
  if (now === undefined) return false;
  if (after?.kind === "directory") return now.inode === before.inode && now.mode === before.mode;
  return now.identity === before.identity && (below === undefined || hasOnly(path, below));
}

function hasOnly(directory: string, expected: ReadonlyMap<string, string>): boolean {
  const found = listIdentities(directory);
  return (
    found.size === expected.size && [...found].every(([path, identity]) => expected.get(path) === identity)
  );
}

/** Where new contents wait, and old ones until all is done: a directory for each file system that is changed. */
class Staging {
  private readonly directories = new Map<bigint, string>();
  private count = 0;

  /** The new contents by path. */
  async write(
    changes: readonly TriedChange[],
    unchanged: TriedChanges["unchanged"],
  ): Promise<ReadonlyMap<string, string>> {
    const staged = new Map<string, string>();
    /** The files with several names that are there already, by their inode in the view. */
    const linked = new Map(unchanged);
    for (const { path, source, before, after, hasNewContent } of changes) {
      if (after === undefined || source === undefined || !hasNewContent || after.kind === "directory")
        continue;
      const place = this.nameFor(path);
      const other = after.names > 1 ? linked.get(after.inode) : undefined;
      if (after.kind === "link") symlinkSync(toSystemPath(after.target ?? ""), toSystemPath(place));
      else if (other === undefined || !tryToLink(other, place)) await copyContent(source, place, after);
      if (before) keepOwner(path, place);
      if (after.names > 1) linked.set(after.inode, place);
      staged.set(path, place);
    }
    return staged;
  }

  /** A new path on the file system of `path`. */
  nameFor(path: string): string {
    const parent = findPresentDirectory(dirname(path));
    const { dev } = lstatSync(toSystemPath(parent), { bigint: true });
    const directory = this.directories.get(dev) ?? this.open(dev, parent);
    this.count += 1;
    return `${directory}/${this.count}`;
  }

  remove(): void {
    for (const directory of this.directories.values()) removeTree(directory);
  }

  /** Keeps what could not be moved back, and says where it is. */
  keep(error: unknown, failures: readonly Error[]): Error {
    const directories = [...this.directories.values()];
    this.directories.clear();
    const reasons = [error, ...failures].map((each) => (each instanceof Error ? each.message : String(each)));
    return new Error(
      `The changes were applied in part, and could not all be taken back (${reasons.join("; ")}). The old contents that were not put back are in ${directories.join(" and ")}.`,
    );
  }

  private open(dev: bigint, parent: string): string {
    using held = HeldDirectory.open(parent);
    const name = `.diligent-apply-${randomHex(8)}`;
    mkdirSync(toSystemPath(held.at(name)), 0o700);
    const directory = `${parent}/${name}`;
    this.directories.set(dev, directory);
    return directory;
  }
}

function findPresentDirectory(path: string): string {
  return readEntryState(path)?.kind === "directory" || path === "/"
    ? path
    : findPresentDirectory(dirname(path));
}

function tryToLink(from: string | Buffer, to: string): boolean {
  try {
    linkSync(typeof from === "string" ? toSystemPath(from) : from, toSystemPath(to));
    return true;
  } catch {
    return false; // It lies on another file system, or that one has no hard links: it is copied.
  }
}

/** False where the view lies on another file system. */
function tryToMove(from: string | Buffer, to: string | Buffer): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EXDEV") return false;
    throw error;
  }
}

function keepOwner(path: string, place: string): void {
  try {
    const [had, has] = [lstatSync(toSystemPath(path)), lstatSync(toSystemPath(place))];
    if (had.uid !== has.uid || had.gid !== has.gid) lchownSync(toSystemPath(place), had.uid, had.gid);
  } catch {
    // Only an administrator may: the file belongs to this user then, as after a command that replaces it.
  }
}

const CHUNK_BYTES = 1024 * 1024;
// Reading a file with holes takes as long as one without.
const LARGE_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 512;

async function copyContent(source: string, place: string, { mode, size }: EntryState): Promise<void> {
  const from = toSystemPath(source);
  const stats = lstatSync(from);
  if ((stats.mode & 0o400) === 0) chmodSync(from, stats.mode | 0o400);
  const isLarge = size > LARGE_BYTES;
  if (isLarge && tryToMove(from, toSystemPath(place))) return chmodSync(toSystemPath(place), mode);
  if (stats.blocks * BLOCK_BYTES < size) await copySparse(from, toSystemPath(place), size);
  else await copyFile(from, toSystemPath(place), constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await utimes(toSystemPath(place), stats.atime, stats.mtime);
  chmodSync(toSystemPath(place), mode);
}

/** Leaves holes where the content is zero. */
async function copySparse(from: string | Buffer, to: string | Buffer, size: number): Promise<void> {
  await using source = await openFile(from, "r");
  await using target = await openFile(to, "wx");
  await target.handle.truncate(size);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const zeros = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await source.handle.read(chunk, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return;
    const content = chunk.subarray(0, bytesRead);
    if (!content.equals(zeros.subarray(0, bytesRead))) await target.handle.write(content, 0, bytesRead, at);
    at += bytesRead;
  }
}

async function openFile(
  path: string | Buffer,
  flags: string,
): Promise<AsyncDisposable & { handle: FileHandle }> {
  const handle = await open(path, flags, 0o600);
  return { handle, [Symbol.asyncDispose]: () => handle.close() };
}

/** Moves everything into place; what is done is undone in reverse where something fails. */
function commit(
  changes: readonly TriedChange[],
  staged: ReadonlyMap<string, string>,
  staging: Staging,
): void {
  const undo: (() => void)[] = [];
  try {
    for (const change of changes) if (change.after === undefined) undo.push(moveAway(change.path, staging));
    for (const change of changes) undo.push(...put(change, staged.get(change.path), staging));
    for (const change of changes.toReversed()) undo.push(...setMode(change));
  } catch (error) {
    const failures = undo.toReversed().flatMap(tryStep);
    if (failures.length > 0) throw staging.keep(error, failures);
    throw error;
  }
}

/** The other steps are done all the same. */
function tryStep(step: () => void): Error[] {
  try {
    step();
    return [];
  } catch (error) {
    return [error instanceof Error ? error : new Error(String(error))];
  }
}

function moveAway(path: string, staging: Staging): () => void {
  const kept = staging.nameFor(path);
  within(path, (at) => renameSync(at, toSystemPath(kept)));
  return () => within(path, (at) => renameSync(toSystemPath(kept), at));
}

function put(
  { path, before, after }: TriedChange,
  place: string | undefined,
  staging: Staging,
): (() => void)[] {
  if (after?.kind === "directory" && before === undefined) {
    within(path, (at) => mkdirSync(at, 0o700));
    return [() => within(path, (at) => rmdirSync(at))];
  }
  if (place === undefined) return [];
  const from = toSystemPath(place);
  if (before === undefined) {
    within(path, (at) => moveTo(from, at));
    return [() => within(path, (at) => unlinkSync(at))];
  }
  const kept = staging.nameFor(path);
  within(path, (at) => {
    if (tryToLink(at, kept)) renameSync(from, at);
    else replace(at, { by: from, kept: toSystemPath(kept) });
  });
  return [() => within(path, (at) => renameSync(toSystemPath(kept), at))];
}

/** Where one file cannot have two names: what was there comes back if the new one cannot take its place. */
function replace(at: string | Buffer, { by, kept }: { by: string | Buffer; kept: string | Buffer }): void {
  renameSync(at, kept);
  try {
    renameSync(by, at);
  } catch (error) {
    renameSync(kept, at);
    throw error;
  }
}

/** Unlike a rename, a link never replaces a file that has just been made there. */
function moveTo(from: string | Buffer, to: string | Buffer): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") throw error;
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

function setMode({ path, before, after, hasNewContent }: TriedChange): (() => void)[] {
  if (after === undefined || after.kind === "link") return [];
  const isNewDirectory = after.kind === "directory" && before === undefined;
  if (!isNewDirectory && (hasNewContent || before === undefined || before.mode === after.mode)) return [];
  changeModeHeld(path, after.mode);
  return before ? [() => changeModeHeld(path, before.mode)] : [];
}

// Linux's O_PATH: opens a file without permission to read it.
const O_PATH = 0o10000000;

/** Never follows a link: the entry is held open. */
function changeModeHeld(path: string, mode: number): void {
  within(path, (at) => {
    const descriptor = openSync(at, O_PATH | constants.O_NOFOLLOW);
    try {
      chmodSync(`${DESCRIPTORS}/${descriptor}`, mode);
    } finally {
      closeSync(descriptor);
    }
  });
}

/** No directory on the way can be replaced by a link meanwhile. @throws MovedPathError where one was. */
function within<T>(path: string, use: (at: string | Buffer) => T): T {
  using directory = HeldDirectory.open(dirname(path));
  return use(toSystemPath(directory.at(path.slice(path.lastIndexOf("/") + 1))));
}
