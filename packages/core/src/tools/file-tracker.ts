import { lstatSync, readFileSync } from "node:fs";
import {
  createFingerprint,
  type FileFingerprint,
  isSameContent,
} from "../infrastructure/reading/file-fingerprint.ts";

/** Whether a file is as the session last saw it; `unknown` when it never did. */
export type FileState = "unknown" | "unchanged" | "changed";

/** What the session has seen of files, by real path, so that nothing unseen is overwritten. */
export class FileTracker {
  readonly #seen = new Map<string, FileFingerprint>();
  readonly #read = new Set<string>();
  readonly #modified = new Map<string, FileFingerprint>();

  /** Also for a file of which only a part was read. */
  recordRead(realPath: string, fingerprint: FileFingerprint): void {
    this.#seen.set(realPath, fingerprint);
    this.#read.add(realPath);
  }

  recordModified(realPath: string, fingerprint: FileFingerprint): void {
    this.#seen.set(realPath, fingerprint);
    this.#modified.set(realPath, fingerprint);
  }

  /** `unknown` when the session has neither read nor written the file. */
  stateOf(realPath: string, current: FileFingerprint): FileState {
    const seen = this.#seen.get(realPath);
    if (!seen) return "unknown";
    return isSameContent(seen, current) ? "unchanged" : "changed";
  }

  /** Real paths, in the order in which they were first read. */
  get readFiles(): string[] {
    return [...this.#read];
  }

  /** Real paths of what was written or edited, in the order of the first time. */
  get modifiedFiles(): string[] {
    return [...this.#modified.keys()];
  }

  /** Of these, those that are there as they were written last. */
  findAsWritten(): string[] {
    return [...this.#modified].flatMap(([path, written]) => (isAsWritten(path, written) ? [path] : []));
  }
}

function isAsWritten(path: string, written: FileFingerprint): boolean {
  try {
    const stats = lstatSync(path, { bigint: true });
    if (!stats.isFile() || stats.size !== written.size) return false;
    return isSameContent(written, createFingerprint(stats, readFileSync(path)));
  } catch {
    return false; // Gone, or not for this user.
  }
}

/** One for a session that has seen nothing yet. */
export function createFileTracker(): FileTracker {
  return new FileTracker();
}
