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

/** The bundled ripgrep, and where a copy of it may be placed. */
interface EmbeddedRipgrep {
  /** Inside the executable: readable, but not executable. */
  embeddedPath: string;
  /** Hash of its content, hexadecimal. */
  sha256: string;
  environment: Environment;
  /** A world-writable directory, absolute. */
  temporaryDirectory: string;
}

/**
 * Copies the bundled ripgrep once to where it can be executed: to a private directory in the user's state directory or,
 * if that is impossible (no home, full, read-only, noexec), to a private one among the temporary files. A copy with
 * different content, of another owner or writable by others is replaced.
 * @returns the path of the copy.
 * @throws Error if neither works, with both reasons.
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
  throw new AggregateError(reasons, "No directory for ripgrep.");
}

function openStateDirectory(environment: Environment): string {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new Error("There is no home directory to store ripgrep in.");
  const directory = join(state, "programs");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  return directory;
}

/** The name is predictable, so someone else may have created it before. */
function openTemporaryDirectory(temporaryDirectory: string): string {
  const uid = process.getuid?.();
  const directory = join(temporaryDirectory, `diligent-programs-${uid}`);
  if (!lstatSync(directory, { throwIfNoEntry: false }))
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stats = lstatSync(directory);
  if (!stats.isDirectory() || stats.uid !== uid || stats.mode & ACCESSIBLE_TO_OTHERS)
    throw new Error(`${directory} is accessible to other users.`);
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
  // A file system may be mounted noexec.
  accessSync(path, constants.X_OK);
  return path;
}

function isIntact(path: string, sha256: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.uid !== process.getuid?.() || stats.mode & WRITABLE_BY_OTHERS) return false;
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex") === sha256;
}
