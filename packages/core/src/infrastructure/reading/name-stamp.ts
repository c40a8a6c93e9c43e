import { lstatSync } from "node:fs";

/** By which it is known that a name stands for the same file or directory as before. */
export interface NameStamp {
  /** Differs when it is another one, and when it was moved, even if it was moved back; also when its content changed. */
  identity: string;
  /** When it was moved or changed last, in milliseconds since the epoch, by the clock of its file system. */
  changedMs: number;
}

/**
 * Undefined for what is neither a regular file nor a directory (a link is neither), and for what may not be looked at. The
 * time is the inode's, which the file systems of Linux and macOS set when they rename, and which nobody can set back.
 */
export function readNameStamp(path: string): NameStamp | undefined {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (!stats?.isDirectory() && !stats?.isFile()) return undefined;
    const { dev, ino, ctimeNs } = stats;
    return { identity: `${dev} ${ino} ${ctimeNs}`, changedMs: Number(ctimeNs / 1_000_000n) };
  } catch {
    return undefined; // A part of the path is no directory any more.
  }
}
