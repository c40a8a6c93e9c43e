import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Environment, userStateDirectory } from "@diligent/core/light";

const ACCESSIBLE_TO_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;
const NAME_DIGITS = 16;

/** The ripgrep inside the executable, and where a copy of it may go. */
export interface EmbeddedRipgrep {
  /** Inside the executable, where it can be read and not be run. */
  embeddedPath: string;
  /** Of its content, in hexadecimal digits. */
  sha256: string;
  environment: Environment;
  /** Where everybody may write: absolute. */
  temporaryDirectory: string;
}

/**
 * Copies the ripgrep that is part of the executable to where it can be run, once: into a directory that nobody else can
 * write to, of the user's state, else (no home, a full or read-only one, one that nothing may be run from) beside other
 * temporary files. A copy of another content, of somebody else's or that others may write is replaced.
 * @returns the path of the copy.
 * @throws Error when neither can be had, with the reason of each.
 */
export function placeRipgrep({ environment, temporaryDirectory, ...embedded }: EmbeddedRipgrep): string {
  const reasons: unknown[] = [];
  for (const openDirectory of [
    () => openStateDirectory(environment),
    () => openTemporaryDirectory(temporaryDirectory),
  ]) {
    try {
      return placeIn(openDirectory(), embedded);
    } catch (error) {
      reasons.push(error);
    }
  }
  throw new AggregateError(reasons, "There is no place for ripgrep.");
}

function openStateDirectory(environment: Environment): string {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new Error("There is no home directory to keep ripgrep in.");
  const directory = join(state, "programs");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  return directory;
}

/** Its name can be foretold, so that it is made once; somebody else may have been there before. */
function openTemporaryDirectory(temporaryDirectory: string): string {
  const uid = process.getuid?.();
  const directory = join(temporaryDirectory, `diligent-programs-${uid}`);
  if (!lstatSync(directory, { throwIfNoEntry: false }))
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stats = lstatSync(directory);
  if (!stats.isDirectory() || stats.uid !== uid || stats.mode & ACCESSIBLE_TO_OTHERS)
    throw new Error(`${directory} is not this user's alone.`);
  return directory;
}

function placeIn(
  directory: string,
  { embeddedPath, sha256 }: Pick<EmbeddedRipgrep, "embeddedPath" | "sha256">,
): string {
  const path = join(directory, `rg-${sha256.slice(0, NAME_DIGITS)}`);
  if (!isIntact(path, sha256)) {
    const draft = `${path}.${crypto.randomUUID()}`;
    try {
      writeFileSync(draft, readFileSync(embeddedPath), { flag: "wx", mode: 0o700 });
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  }
  // A file system may be mounted so that nothing on it can be run.
  accessSync(path, constants.X_OK);
  return path;
}

function isIntact(path: string, sha256: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.uid !== process.getuid?.() || stats.mode & WRITABLE_BY_OTHERS) return false;
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex") === sha256;
}
