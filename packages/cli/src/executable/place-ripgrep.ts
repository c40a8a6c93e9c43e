import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Environment, userStateDirectory } from "@diligent/core/light";

const WRITABLE_BY_OTHERS = 0o022;
const NAME_DIGITS = 16;

export interface EmbeddedRipgrep {
  /** Inside the executable, where it can be read and not be run. */
  embeddedPath: string;
  /** Of its content, in hexadecimal digits. */
  sha256: string;
  environment: Environment;
}

/**
 * Copies the ripgrep that is part of the executable to where it can be run, once: into a directory of the user's state
 * that nobody else can write to. A copy of another content, of somebody else's or that others may write is replaced.
 * @returns the path of the copy.
 * @throws Error when there is no home or nothing can be written there.
 */
export function placeRipgrep({ embeddedPath, sha256, environment }: EmbeddedRipgrep): string {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new Error("There is no home directory to keep ripgrep in.");
  const directory = join(state, "programs");
  const path = join(directory, `rg-${sha256.slice(0, NAME_DIGITS)}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  if (isIntact(path, sha256)) return path;
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    writeFileSync(draft, readFileSync(embeddedPath), { flag: "wx", mode: 0o700 });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return path;
}

function isIntact(path: string, sha256: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.uid !== process.getuid?.() || stats.mode & WRITABLE_BY_OTHERS) return false;
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex") === sha256;
}
