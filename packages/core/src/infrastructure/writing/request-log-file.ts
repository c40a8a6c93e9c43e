import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../clock.ts";
import type { Environment } from "../environment.ts";
import { userStateDirectory } from "../places/user-directories.ts";
import { JsonlWriter } from "./jsonl-writer.ts";

// A long session repeats its history in every request; this is a few hundred of them.
const MAX_LOG_BYTES = 200 * 1024 * 1024;
const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

/** A file of JSON lines that ends, saying so, before it grows beyond 200 MB. */
export interface RequestLogFile {
  path: string;
  /** Never throws: a log that cannot be written is no reason to stop. */
  write(entry: object): void;
  close(): void;
}

/**
 * Opens the request log of a session in the user's state directory (0700, the file 0600). Logs older than 30 days go.
 * @throws Error when it cannot be made.
 */
export function openRequestLog(environment: Environment, sessionId: string): RequestLogFile {
  const state = userStateDirectory(environment);
  if (state === undefined) throw new Error("there is no home directory to keep it in");
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
      // A full disk ends the log; the session says for itself that it is not saved.
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
    if (name.endsWith(".jsonl") && stats && now() - stats.mtimeMs > KEPT_FOR_MS)
      rmSync(path, { force: true });
  }
}
