import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { STATE_KEPT_FOR_MS, userStateDirectory } from "../paths/user.ts";
import { type Environment, generateEntryId, isProcessRunning, now, temporaryDirectory } from "../runtime.ts";
import { JsonlWriter } from "./jsonl-writer.ts";

// A long session repeats its history in every request; the limit allows a few hundred of them.
const MAX_LOG_BYTES = 200 * 1024 * 1024;

/** A JSON Lines file that ends with a note before it exceeds 200 MB. */
export interface RequestLogFile {
  path: string;
  /** Never throws: a failing log must not stop the program. */
  write(entry: object): void;
  close(): void;
}

/**
 * Opens the request log of a session in the user's state directory (0700, the file 0600). Logs older than 30 days are
 * deleted.
 * @throws Error when it cannot be created.
 */
export function openRequestLog(environment: Environment, sessionId: string): RequestLogFile {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new Error("there is no home directory to store it in");
  const directory = join(state, "requests");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  removeOld(directory);
  const file = new JsonlWriter(join(directory, `${sessionId}.jsonl`));
  let bytes = statSync(file.path, { throwIfNoEntry: false })?.size ?? 0;
  let ended = false;
  const append = (entry: object) => {
    try {
      file.append(entry);
    } catch {
      // A full disk ends the log; the session reports its own write errors.
      ended = true;
    }
  };
  return {
    path: file.path,
    write(entry) {
      if (ended) return;
      bytes += Buffer.byteLength(JSON.stringify(entry));
      if (bytes <= MAX_LOG_BYTES) append(entry);
      else {
        append({ type: "end", reason: `the log has reached ${MAX_LOG_BYTES} bytes` });
        ended = true;
      }
    },
    close: () => file.close(),
  };
}

function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (name.endsWith(".jsonl") && stats && now() - stats.mtimeMs > STATE_KEPT_FOR_MS)
      rmSync(path, { force: true });
  }
}

// Contains the process id, so that the directory of an open session is not taken for a leftover.
const PREFIX = "diligent-session-";
const OURS = new RegExp(`^${PREFIX}(\\d{1,10})-[A-Za-z0-9]{6}$`);
const LEFTOVER_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** The directory inside a session's temporary directory that replaces the system's one for sandboxed commands. */
export function commandTemporaryPath(sessionTemporary: string): string {
  return join(sessionTemporary, "tmp");
}

/** A session's private temporary directory (0700): created on first use, removed with the session. */
export class SessionTempDir {
  private directory: string | undefined;
  private failed = false;

  /** @param parent the directory in which a private directory is created. */
  constructor(private readonly parent: string = temporaryDirectory()) {}

  /** The directory, if it was created already. */
  get existing(): string | undefined {
    return this.directory;
  }

  /** The directory, or undefined when it cannot be created. */
  path(): string | undefined {
    if (this.directory !== undefined || this.failed) return this.directory;
    try {
      this.directory = mkdtempSync(join(this.parent, `${PREFIX}${process.pid}-`));
      removeLeftovers(this.parent);
    } catch {
      // Outputs are only truncated then; the note in the result names no file.
      this.failed = true;
    }
    return this.directory;
  }

  /** Writes a file into it; returns its path, or undefined when writing failed. */
  keep(name: string, content: string): string | undefined {
    const directory = this.path();
    if (directory === undefined) return undefined;
    // Some servers use the same id for every call: each result keeps its own file.
    const suffix = generateEntryId();
    const path = join(directory, `${name.replace(/[^\w.-]/g, "_").slice(0, 80)}-${suffix}.txt`);
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    } catch {
      // A full disk must not prevent the model from getting its result.
      return undefined;
    }
  }

  remove(): void {
    if (this.directory !== undefined) removeTree(this.directory);
    this.directory = undefined;
  }
}

/**
 * Removes a directory of ours. Commands may leave directories without write permission in it. Files that cannot be
 * removed now are removed later as leftovers.
 */
export function removeTree(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    makeRemovable(directory);
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // It contains a file of another user: it is a leftover from now on.
    }
  }
}

function makeRemovable(directory: string): void {
  try {
    chmodSync(directory, 0o700);
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (entry.isDirectory()) makeRemovable(join(directory, entry.name));
    }
  } catch {
    // It is not accessible.
  }
}

/** Removes the directories of killed sessions after a week. Only this user's own can be removed. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const processId = OURS.exec(name)?.[1];
    if (processId === undefined || isProcessRunning(Number(processId))) continue;
    const path = join(parent, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) continue;
    if (now() - stats.mtimeMs > LEFTOVER_AGE_MS) removeTree(path);
  }
}
