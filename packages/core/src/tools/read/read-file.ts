import type { FileHandle } from "node:fs/promises";
import { fileSignature, startsLikeImage } from "../../infrastructure/content/file-signature.ts";
import { NotUtf8Error } from "../../infrastructure/content/text-file.ts";
import { createFingerprint } from "../../infrastructure/reading/file-fingerprint.ts";
import { specialFileKind } from "../../infrastructure/reading/file-target.ts";
import { openRegularFile, readStart } from "../../infrastructure/reading/regular-file.ts";
import { systemErrorCode, systemErrorText } from "../../infrastructure/system-error.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { ReadArguments } from "../read.ts";
import type { ApprovedTarget } from "../target/approved-target.ts";
import { formatBytes } from "../target/format-bytes.ts";
import { missingFileError } from "../target/missing-file.ts";
import type { Workspace } from "../workspace.ts";
import { DEFAULT_LINES, readTextPage, type TextWindow } from "./read-text.ts";

const START_BYTES = 512;
// Larger files are not even looked into.
const MAX_IMAGE_FILE_BYTES = 50 * 1024 * 1024;
// Up to here a file is hashed whole, so that a later change is known by content and not only by time.
const MAX_HASHED_BYTES = 8 * 1024 * 1024;

/** A part of a file, for the model, which the session has seen then. @throws Error that says why it cannot be read. */
export async function readFile(
  workspace: Workspace,
  target: ApprovedTarget,
  { args, signal }: { args: ReadArguments; signal: AbortSignal },
): Promise<ToolResult> {
  assertReadable(workspace, target);
  const { handle, stats } = await openRegularFile(target.realPath);
  try {
    // Before it is shown: if the file changes in between, it counts as changed.
    const whole = stats.size <= MAX_HASHED_BYTES ? await readStart(handle, MAX_HASHED_BYTES) : undefined;
    const window = { offset: Math.max(1, args.offset ?? 1), limit: args.limit ?? DEFAULT_LINES };
    const result = await readContent({ target, handle, size: stats.size, signal }, window);
    workspace.files.recordRead(target.realPath, createFingerprint(stats, whole));
    return result;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    throw new Error(`Cannot read ${target.path}: ${systemErrorText(error)}.`);
  } finally {
    await handle.close();
  }
}

function assertReadable(workspace: Workspace, target: ApprovedTarget): void {
  const { path, stats } = target;
  if (!stats) throw missingFileError(workspace, target);
  const kind = specialFileKind(stats);
  if (kind === "a directory") throw new Error(`${path} is a directory. Use ls to see what is in it.`);
  if (kind !== undefined) throw new Error(`${path} is ${kind}, which cannot be read like a file.`);
}

interface OpenFile {
  target: ApprovedTarget;
  handle: FileHandle;
  size: bigint;
  signal: AbortSignal;
}

async function readContent(file: OpenFile, window: TextWindow): Promise<ToolResult> {
  const { path } = file.target;
  const start = await readStart(file.handle, START_BYTES);
  if (startsLikeImage(start) && file.size <= MAX_IMAGE_FILE_BYTES) {
    const { readImage } = await import("./read-image.ts");
    const image = await readImage(path, await readStart(file.handle, MAX_IMAGE_FILE_BYTES));
    if (image) return image;
  }
  try {
    const { handle, signal } = file;
    const { firstLine, lastLine, ...page } = await readTextPage(path, { handle, start, signal }, window);
    return { ...page, metadata: { firstLine, lastLine } };
  } catch (error) {
    if (error instanceof NotUtf8Error) throw notTextError(file, start, error);
    throw error;
  }
}

function notTextError(
  { target, size }: OpenFile,
  start: Uint8Array,
  { message, guess }: NotUtf8Error,
): Error {
  const { path } = target;
  const what = `${fileSignature(start) ?? "binary file"}, ${formatBytes(size)}`;
  if (startsLikeImage(start)) {
    const reason = size > MAX_IMAGE_FILE_BYTES ? "too large to be shown" : "cut off or damaged";
    return new Error(`Cannot show ${path}: the image is ${reason} (${what}).`);
  }
  if (guess.kind === "binary") {
    return new Error(
      `${path} is no text (${what}). Use bash with a program that knows the format, such as file or xxd.`,
    );
  }
  const way = guess.kind === "text" ? `iconv -f ${guess.iconvName} -t UTF-8` : "iconv -c -f UTF-8 -t UTF-8";
  return new Error(`Cannot read ${path}: it is ${message}. To see it, run with bash: ${way} FILE`);
}
