import type { BigIntStats } from "node:fs";
import {
  decodeUtf8,
  encodeUtf8,
  NotUtf8Error,
  type TextContent,
} from "../../infrastructure/content/text-file.ts";
import { createFingerprint } from "../../infrastructure/reading/file-fingerprint.ts";
import { specialFileKind } from "../../infrastructure/reading/file-target.ts";
import { MovedPathError } from "../../infrastructure/reading/opened-path.ts";
import { readWholeFile } from "../../infrastructure/reading/regular-file.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { DamagedFileError } from "../../infrastructure/writing/rewrite-in-place.ts";
import { FileChangedError, writeWholeFile } from "../../infrastructure/writing/write-file.ts";
import type { Workspace } from "../workspace.ts";
import type { ApprovedTarget } from "./approved-target.ts";
import { formatBytes } from "./format-bytes.ts";

// A file is held several times over while it is changed.
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The text of an existing file that is to be changed. Throws unless the session has read (or written) it and it is
 * still the same, and for what is no UTF-8, since changing that would change its bytes everywhere.
 */
export function openForChange(workspace: Workspace, target: ApprovedTarget, stats: BigIntStats): TextContent {
  const { path, realPath } = target;
  const kind = specialFileKind(stats);
  if (kind !== undefined) throw new Error(`${path} is ${kind}. Give the path of a file.`);
  if (stats.size > MAX_BYTES) {
    throw new Error(
      `${path} is too large to change this way (${formatBytes(stats.size)}). Use bash, for instance with sed.`,
    );
  }
  const bytes = readWholeFile(realPath);
  const state = workspace.files.stateOf(realPath, createFingerprint(stats, bytes));
  if (state === "unknown")
    throw new Error(`${path} has not been read in this session. Read it first, then try again.`);
  if (state === "changed") throw changedError(path);
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof NotUtf8Error)) throw error;
    throw new Error(
      `${path} was left as it is: it is ${error.message}, and only UTF-8 can be changed without harm. ` +
        "Use bash with a program that knows its format.",
    );
  }
}

function changedError(path: string): Error {
  return new Error(
    `${path} has changed on disk since it was read. Read it again, then try again with what is there now.`,
  );
}

/** Writes the file and remembers it as seen. Throws, with the old content in place, saying why it could not be written. */
export function saveChange(workspace: Workspace, target: ApprovedTarget, content: TextContent): void {
  const bytes = encodeUtf8(content);
  try {
    const stats = writeWholeFile(target.realPath, bytes, target.stats);
    workspace.files.recordModified(target.realPath, createFingerprint(stats, bytes));
  } catch (error) {
    if (error instanceof FileChangedError) throw changedError(target.path);
    if (error instanceof DamagedFileError || error instanceof MovedPathError) throw error;
    const kept = target.stats ? "The file was left as it was." : "No file was made.";
    throw new Error(`Cannot write ${target.path}: ${systemErrorText(error)}. ${kept}`);
  }
}

/**
 * Half of a character (a lone surrogate) cannot be written as UTF-8, and half a match would tear one in the file.
 * @throws Error that names the argument.
 */
export function assertWholeCharacters(name: string, text: string): void {
  if (text.isWellFormed()) return;
  throw new Error(
    `${name} holds half of a character (a lone surrogate). Give whole characters, such as a whole emoji.`,
  );
}
