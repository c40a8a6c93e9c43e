/** What a file was when it was last looked at. `sha256` (hexadecimal) is there when its whole content was seen. */
export interface FileFingerprint {
  /** Bytes. */
  size: bigint;
  /** Nanoseconds since the epoch. */
  modifiedNs: bigint;
  inode: bigint;
  sha256?: string;
}

/** What is looked at of a file's status, as `stat` with `bigint` gives it. */
interface FileStatus {
  size: bigint;
  mtimeNs: bigint;
  ino: bigint;
}

/** `content` is the whole of it; without it, only size, time and inode tell a change. */
export function createFingerprint(stats: FileStatus, content?: Uint8Array): FileFingerprint {
  const base = { size: stats.size, modifiedNs: stats.mtimeNs, inode: stats.ino };
  return content ? { ...base, sha256: Bun.SHA256.hash(content, "hex") } : base;
}

/** Same content where both were seen whole, so that a mere `touch` is no change; else same size, time and inode. */
export function isSameContent(left: FileFingerprint, right: FileFingerprint): boolean {
  if (left.sha256 !== undefined && right.sha256 !== undefined) return left.sha256 === right.sha256;
  return left.size === right.size && left.modifiedNs === right.modifiedNs && left.inode === right.inode;
}
