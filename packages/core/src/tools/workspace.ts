import { lstatSync, readFileSync } from "node:fs";
import type { UnseenProcess } from "../infrastructure/network/connection.ts";
import type {
  CommandTemporary,
  ProtectedAccess,
  SandboxState,
} from "../infrastructure/process/shell-wrapper.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import type { SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
import { decodeUtf8, type TextContent, type TextEncoding } from "../infrastructure/text/text-file.ts";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import type { ToolContext, ToolResult } from "../tool/types.ts";

/** The environment of a session's tools. All paths are absolute and real. */
export interface Workspace {
  /** The directory relative paths and commands start from. */
  cwd: string;
  /** The project root; equal to `cwd` or above it. */
  root: string;
  /** The files read in this session, so that no unseen content is overwritten. */
  files: FileTracker;
  /** The session's private temporary directory (0700), created on first use; undefined if it cannot be created. */
  outputDirectory(): string | undefined;
  /** The environment of this process: its PATH is searched for programs; child processes get an allowed part of it. */
  environment: Environment;
  /** Names of additional variables that the user passes to commands. */
  inheritEnvironment?: readonly string[] | undefined;
  /** How commands run; evaluated before each one. When left out, commands run unsandboxed. */
  sandboxState?: (() => Promise<SandboxState>) | undefined;
  /** What sandboxed commands may do with protected files; evaluated before each one. */
  protectedAccess?: (() => Promise<ProtectedAccess | undefined>) | undefined;
  /** The temporary directory of commands; undefined, or left out, if they use the system's directories. */
  commandTemporary?: (() => CommandTemporary | undefined) | undefined;
  /** Commands in the background; where it is left out, every command runs in the foreground. */
  jobs?: SessionJobs | undefined;
  /** Knows the placeholders that stand for secrets in what the model reads. */
  redactor?: SecretRedactor | undefined;
  /** Receives what runs outside a sandbox, and so may connect unseen. */
  noteUnseen?: ((process: UnseenProcess) => void) | undefined;
  /** Runs a command in a view of the project, and applies what it changes if the user says so. */
  tryCommand?:
    | ((args: { command: string; timeout?: number | undefined }, context: ToolContext) => Promise<ToolResult>)
    | undefined;
  /** The editor in which the user works, if it takes part. */
  editor?: EditorFiles | undefined;
  /** Set in children as `DILIGENT_SESSION_ID`. */
  sessionId: string;
}

/**
 * The files of the project as an editor has them open, unsaved changes included. Paths are absolute and real. Both
 * functions end within a limited time.
 */
export interface EditorFiles {
  /** The text in the editor. Left out if the editor does not say. @throws Error, a sentence, if it cannot be read. */
  read?(path: string, signal: AbortSignal): Promise<string>;
  /** Replaces the text and saves it. Left out if the editor does not do it. @throws Error, a sentence */
  write?(path: string, text: string, signal: AbortSignal): Promise<void>;
}

/** A file that a call has changed. */
export interface FileChange {
  realPath: string;
  /** The text that it had before; undefined for a new file. */
  before: string | undefined;
}

/** Whether a file is unchanged since the session last saw it; `unknown` if it was never seen. */
export type FileState = "unknown" | "unchanged" | "changed";

// Seen contents are only kept to show later changes: those of small files, and not of many at once.
const MAX_KEPT_FILE_BYTES = 256 * 1024;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** The state of files that the session has seen, by real path, so that no unseen content is overwritten. */
export class FileTracker {
  readonly #seen = new Map<string, FileFingerprint>();
  readonly #read = new Set<string>();
  readonly #modified = new Map<string, FileFingerprint>();
  readonly #recentlyModified = new Set<string>();
  readonly #replaced = new Map<string, string>();

  readonly #contents = new Map<string, Uint8Array>();
  readonly #encodings = new Map<string, TextEncoding>();

  /**
   * Also for a file that was only partly read. `content` is all of it, if that was read; `encoding` is left out for
   * UTF-8.
   */
  recordRead(
    realPath: string,
    fingerprint: FileFingerprint,
    { content, encoding }: { content?: Uint8Array | undefined; encoding?: TextEncoding | undefined } = {},
  ): void {
    this.#seen.set(realPath, fingerprint);
    this.#read.add(realPath);
    if (encoding) this.#encodings.set(realPath, encoding);
    else this.#encodings.delete(realPath);
    this.#keepContent(realPath, content);
  }

  /** The text that a change is about to replace; of several changes, that of the first counts. */
  recordReplaced(realPath: string, before: string): void {
    if (!this.#replaced.has(realPath)) this.#replaced.set(realPath, before);
  }

  recordModified(realPath: string, fingerprint: FileFingerprint, content?: Uint8Array): void {
    this.#seen.set(realPath, fingerprint);
    this.#modified.set(realPath, fingerprint);
    this.#recentlyModified.add(realPath);
    this.#keepContent(realPath, content);
  }

  /** The files that were modified since the last call. */
  takeModified(): FileChange[] {
    const changes = [...this.#recentlyModified].map((realPath) => ({
      realPath,
      before: this.#replaced.get(realPath),
    }));
    this.#recentlyModified.clear();
    this.#replaced.clear();
    return changes;
  }

  /** The encoding in which the session has read the file; undefined for UTF-8. */
  encodingOf(realPath: string): TextEncoding | undefined {
    return this.#encodings.get(realPath);
  }

  /** Decodes the bytes of a file as it was read. @throws NotUtf8Error, and the errors of `TextEncoding.decode`. */
  decode(realPath: string, bytes: Uint8Array): TextContent {
    return this.encodingOf(realPath)?.decode(bytes) ?? decodeUtf8(bytes);
  }

  /** The content that the session saw last, to tell what has changed since; undefined if it was not kept. */
  lastContent(realPath: string): Uint8Array | undefined {
    return this.#contents.get(realPath);
  }

  #keepContent(realPath: string, content: Uint8Array | undefined): void {
    this.#contents.delete(realPath);
    if (!content || content.length > MAX_KEPT_FILE_BYTES) return;
    this.#contents.set(realPath, content.slice());
    let total = [...this.#contents.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [path, { length }] of this.#contents) {
      if (total <= MAX_KEPT_BYTES) break;
      this.#contents.delete(path);
      total -= length;
    }
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

  /** Real paths of written or edited files, in the order of the first change. */
  get modifiedFiles(): string[] {
    return [...this.#modified.keys()];
  }

  /** Those of the modified files that still have the last written content. */
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
    return false; // Deleted, or not accessible.
  }
}

/** A tracker for a session that has seen no files yet. */
export function createFileTracker(): FileTracker {
  return new FileTracker();
}

/** The identity of a file's content. `sha256` (hexadecimal) is set when the whole content was read. */
export interface FileFingerprint {
  /** Bytes. */
  size: bigint;
  /** Nanoseconds since the epoch. */
  modifiedNs: bigint;
  inode: bigint;
  sha256?: string;
}

/** The part of a file's stats that is compared, from `stat` with `bigint`. */
interface FileStatus {
  size: bigint;
  mtimeNs: bigint;
  ino: bigint;
}

/** `content` is the complete content; without it, only size, time and inode show a change. */
export function createFingerprint(stats: FileStatus, content?: Uint8Array): FileFingerprint {
  const base = { size: stats.size, modifiedNs: stats.mtimeNs, inode: stats.ino };
  return content ? { ...base, sha256: Bun.SHA256.hash(content, "hex") } : base;
}

/** Equal hashes if both are known, so a mere `touch` is not a change; otherwise equal size, time and inode. */
function isSameContent(left: FileFingerprint, right: FileFingerprint): boolean {
  if (left.sha256 !== undefined && right.sha256 !== undefined) return left.sha256 === right.sha256;
  return left.size === right.size && left.modifiedNs === right.modifiedNs && left.inode === right.inode;
}
