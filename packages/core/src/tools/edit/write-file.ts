import type { BigIntStats } from "node:fs";
import { dirname } from "node:path";
import { withDirectoryLock } from "../../infrastructure/fs/directory-lock.ts";
import { inNewDirectories, withParentDirectories } from "../../infrastructure/fs/private-files.ts";
import { readWholeFile, specialFileKind } from "../../infrastructure/fs/read.ts";
import { MovedPathError } from "../../infrastructure/fs/real-path.ts";
import { DamagedFileError, FileChangedError, writeWholeFile } from "../../infrastructure/fs/write.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import {
  encodeText,
  NotUtf8Error,
  type TextContent,
  UnencodableTextError,
} from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import {
  changeInTurn,
  isChangedInEditor,
  readUnsaved,
  saveInEditor,
  type UnsavedText,
  unsavedError,
} from "../editor-files.ts";
import { type ApprovedTarget, displayPath, formatBytes } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { createFingerprint } from "../workspace.ts";
import { countLines, findLineEnds, fromLineFeeds } from "./lines.ts";
import { restoreContent } from "./restore-secrets.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

// A changed file is in memory several times.
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The text of an existing file that is to be changed. @throws Error unless the session has read (or written) it and it
 * has not changed since, and for binary data.
 */
export function openForChange(
  workspace: Workspace,
  target: ApprovedTarget,
  stats: BigIntStats,
  unsaved: UnsavedText | undefined,
): TextContent {
  const { content, hasChanged } = openSeenFile(workspace, target, stats, unsaved);
  if (hasChanged) throw changedError(target.path);
  return content;
}

/**
 * The text of a file of which a patch itself names the lines to change: it need not have been read. @throws Error for
 * binary data, and for an encoding that only a read can find out.
 */
export function openForPatch(workspace: Workspace, target: ApprovedTarget, stats: BigIntStats): TextContent {
  return decodeForChange(workspace, target, readForChange(target, stats));
}

/** The same for a file that may have changed since the session read (or wrote) it. */
export function openSeenFile(
  workspace: Workspace,
  target: ApprovedTarget,
  stats: BigIntStats,
  unsaved: UnsavedText | undefined,
): { content: TextContent; hasChanged: boolean } {
  const { path, realPath } = target;
  const saved = readForChange(target, stats);
  const content = unsaved && { text: unsaved.text, hasByteOrderMark: false };
  const bytes = content ? encodeText(content) : saved;
  const state = workspace.files.stateOf(realPath, createFingerprint(stats, bytes));
  if (state === "unknown")
    throw new Error(`${path} has not been read in this session. Read it first, then try again.`);
  return {
    content: content ?? decodeForChange(workspace, target, bytes),
    hasChanged: state === "changed",
  };
}

function readForChange({ path, realPath }: ApprovedTarget, stats: BigIntStats): Uint8Array {
  const kind = specialFileKind(stats);
  if (kind !== undefined) throw new Error(`${path} is ${kind}. Give the path of a file.`);
  if (stats.size > MAX_BYTES) {
    throw new Error(
      `${path} is too large to change this way (${formatBytes(stats.size)}). Use bash, for instance with sed.`,
    );
  }
  return readWholeFile(realPath);
}

function decodeForChange(
  workspace: Workspace,
  { path, realPath }: ApprovedTarget,
  bytes: Uint8Array,
): TextContent {
  try {
    return workspace.files.decode(realPath, bytes);
  } catch (error) {
    // Reading finds out the encoding, and the bytes of an unchanged file were decoded with it then.
    if (error instanceof NotUtf8Error && error.guess.kind !== "binary")
      throw new Error(
        `${path} is not UTF-8, and has changed on disk since it was read or was not read at all. Read it, then try again.`,
      );
    const what = error instanceof NotUtf8Error ? `It is ${error.message}.` : systemErrorText(error);
    throw new Error(`${path} was left unchanged. ${what} Use bash with a program that knows its format.`);
  }
}

/** The error for a change that was based on what the file no longer has. */
export function changedError(path: string): Error {
  return new Error(
    `${path} has changed on disk since it was read. Read it again, then try again with what is there now.`,
  );
}

/**
 * Writes the file and remembers it as seen. @throws Error that says why it could not be written; the old content is
 * still there.
 */
export function saveChange(workspace: Workspace, target: ApprovedTarget, content: TextContent): void {
  const bytes = encodeForChange(target, content);
  try {
    const stats = writeWholeFile(target.realPath, bytes, target.stats);
    workspace.files.recordModified(target.realPath, createFingerprint(stats, bytes), bytes);
  } catch (error) {
    if (error instanceof FileChangedError) throw changedError(target.path);
    if (error instanceof DamagedFileError || error instanceof MovedPathError) throw error;
    const kept = target.stats ? "The file was left unchanged." : "No file was created.";
    throw new Error(`Cannot write ${target.path}: ${systemErrorText(error)}. ${kept}`);
  }
}

function encodeForChange({ path }: ApprovedTarget, content: TextContent): Uint8Array {
  try {
    return encodeText(content);
  } catch (error) {
    if (!(error instanceof UnencodableTextError)) throw error;
    throw new Error(`${path} was left unchanged: ${error.message}.`);
  }
}

/**
 * Half of a character (a lone surrogate) cannot be written as UTF-8, and matching one half would split a character
 * in the file.
 * @throws Error that names the argument.
 */
export function assertWholeCharacters(name: string, text: string): void {
  if (text.isWellFormed()) return;
  throw new Error(
    `${name} contains half of a character (a lone surrogate). Give whole characters, such as a whole emoji.`,
  );
}

// The user waits for this preview. Larger files are compared when they are written.
const MAX_PREVIEW_BYTES = 4 * 1024 * 1024;

// The renderer decides how much to show; this limits the amount of data.
const LIMITS = { maxLines: 5_000, maxLineChars: 10_000 };

/** A planned change of one file. */
interface PlannedChange {
  /** Absolute. */
  path: string;
  /** Bytes of the current and the future content, as far as known without reading. */
  sizes: readonly (number | bigint)[];
  /** Computes the change. Throws if the call would fail. */
  plan(): { before: string; after: string };
}

/**
 * The changes a call would make, as a unified diff; undefined if nothing would change. A diff that is too large is
 * replaced by a line that cannot be diff content. @throws Error if the call would fail.
 */
export async function previewChange(
  workspace: Workspace,
  { path, sizes, plan }: PlannedChange,
): Promise<string | undefined> {
  const name = displayPath(workspace, path);
  // A line break in it would look like a line of the diff.
  const shownPath = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  if (sizes.some((size) => size > MAX_PREVIEW_BYTES)) {
    const total = sizes.map((size) => formatBytes(size)).join(" and ");
    return `--- ${shownPath}\n+++ ${shownPath}\n\\ The change is too large to be shown: ${total}.\n`;
  }
  const { before, after } = plan();
  const { diff } = await createUnifiedDiff(shownPath, before, after, LIMITS);
  return diff === "" ? undefined : diff;
}

/** The location of a change, resolved when it is made. */
export interface TargetLocation {
  /** See `TargetGate.locate`. */
  locate(): ApprovedTarget;
  signal: AbortSignal;
}

/** A computed change; without `after` there is nothing to write, and without `before` the file is new. */
interface PlannedWrite {
  target: ApprovedTarget;
  before?: TextContent | string | undefined;
  after?: TextContent | undefined;
}

/**
 * Computes a change and writes it, while no other diligent process changes a file in its directory: the file that
 * `plan` reads is the one it replaces. In an editor that takes part, the editor writes it, and `saved` is its note.
 * @throws errors of `locate`, `plan` and the write, and the abort reason if nothing was changed yet.
 */
export async function changeTarget<T extends PlannedWrite>(
  workspace: Workspace,
  { locate, signal }: TargetLocation,
  plan: (target: ApprovedTarget, unsaved: UnsavedText | undefined) => T,
): Promise<T & { saved: string }> {
  signal.throwIfAborted();
  const { editor } = workspace;
  // Resolved again under the lock: another process may have put a new file there meanwhile.
  const underLock = (use: (target: ApprovedTarget) => T) =>
    withDirectoryLock(dirname(locate().realPath), () => {
      signal.throwIfAborted();
      return use(locate());
    });
  if (!editor || !isChangedInEditor(workspace, locate())) {
    const unsaved = await readUnsaved(workspace, locate(), signal);
    if (unsaved) throw unsavedError(locate().path);
    const planned = await underLock((target) => {
      const computed = plan(target, undefined);
      saveOnDisk(workspace, computed);
      return computed;
    });
    return { ...planned, saved: "" };
  }
  return changeInTurn(editor, async () => {
    const unsaved = await readUnsaved(workspace, locate(), signal);
    // The lock cannot be held while the editor writes. Others are noticed, since the file is compared again.
    const planned = await underLock((target) => plan(target, unsaved));
    const { target, after: content } = planned;
    if (!content) return { ...planned, saved: "" };
    recordReplaced(workspace, planned);
    const save = () => saveInEditor(workspace, target, { content, unsaved, signal });
    return { ...planned, saved: await (target.stats ? save() : inNewDirectories(target.realPath, save)) };
  });
}

function saveOnDisk(workspace: Workspace, planned: PlannedWrite): void {
  const { target, after } = planned;
  if (!after) return;
  recordReplaced(workspace, planned);
  if (target.stats) saveChange(workspace, target, after);
  else withParentDirectories(target.realPath, () => saveChange(workspace, target, after));
}

function recordReplaced({ files }: Workspace, { target, before }: PlannedWrite): void {
  if (before === undefined) return;
  files.recordReplaced(target.realPath, typeof before === "string" ? before : before.text);
}

/** @throws Error for arguments that cannot be written to a file. */
export function assertWritable({ file_path, content }: { file_path: string; content: string }): void {
  if (file_path.endsWith("/")) {
    throw new Error(`${file_path} names a directory. Give the path of a file; its directories are created.`);
  }
  assertWholeCharacters("content", content);
}

/** For a preview, which nothing stops: reading from an editor ends by itself. */
export const NEVER = new AbortController().signal;

/** Creates the file or replaces its content. @throws Error that says why it failed; the file is unchanged then. */
export async function writeFile(
  workspace: Workspace,
  location: TargetLocation,
  content: string,
): Promise<ToolResult> {
  const { saved, ...written } = await changeTarget(workspace, location, (target, unsaved) =>
    planContent(workspace, { target, unsaved }, content),
  );
  const result = await describe(workspace, written);
  return { ...result, output: result.output + saved };
}

/** The outcome of a write; without `before` the file is new, without `after` it stays as it is. */
interface WrittenFile extends PlannedWrite {
  before?: string;
  note: string;
}

function planContent(
  workspace: Workspace,
  { target, unsaved }: { target: ApprovedTarget; unsaved: UnsavedText | undefined },
  content: string,
): WrittenFile {
  const { path } = target;
  if (!target.stats) {
    const text = restoreContent(workspace, { path, before: "" }, content);
    return { target, after: { text, hasByteOrderMark: false }, note: "" };
  }
  const opened = openForChange(workspace, target, target.stats, unsaved);
  const restored = restoreContent(workspace, { path, before: opened.text }, content);
  const { before, after, note } = adaptContent(opened, restored);
  return { target, before: before.text, note, ...(before.text !== after.text && { after }) };
}

/** See `previewChange`. */
export async function previewWrite(
  workspace: Workspace,
  target: ApprovedTarget,
  content: string,
): Promise<string | undefined> {
  const { path, stats } = target;
  const unsaved = await readUnsaved(workspace, target, NEVER);
  return previewChange(workspace, {
    path,
    sizes: [...(stats ? [stats.size] : []), content.length],
    plan() {
      if (!stats) return { before: "", after: restoreContent(workspace, { path, before: "" }, content) };
      const opened = openForChange(workspace, target, stats, unsaved);
      const restored = restoreContent(workspace, { path, before: opened.text }, content);
      const { before, after } = adaptContent(opened, restored);
      return { before: before.text, after: after.text };
    },
  });
}

interface Overwriting {
  before: TextContent;
  after: TextContent;
  /** How the content was adapted to the file. */
  note: string;
}

function adaptContent(before: TextContent, content: string): Overwriting {
  const { main } = findLineEnds(before.text);
  const isAdapted = main !== "\n" && !content.includes("\r") && content.includes("\n");
  const withoutMark = before.hasByteOrderMark && content.startsWith("\ufeff") ? content.slice(1) : content;
  const text = isAdapted ? fromLineFeeds(withoutMark, main) : withoutMark;
  const note = isAdapted ? ` Its ${main === "\r\n" ? "CRLF" : "CR"} line endings were kept.` : "";
  return { before, after: { ...before, text }, note };
}

async function describe(
  workspace: Workspace,
  { target, before, after: content, note }: WrittenFile,
): Promise<ToolResult> {
  if (!content) {
    return {
      output: `${target.path} already has exactly this content; nothing was written.`,
      metadata: { unchanged: true },
    };
  }
  const after = content.text;
  const metadata = await diffMetadata(workspace, target, { before: before ?? "", after });
  if (before === undefined) {
    return {
      output: `Created ${target.path} (${lineCount(after)}).${note}`,
      metadata: { ...metadata, created: true },
    };
  }
  const counts = `${lineCount(after)}, previously ${lineCount(before)}`;
  return { output: `Overwrote ${target.path} (${counts}).${note}`, metadata };
}

async function diffMetadata(
  workspace: Workspace,
  { path }: ApprovedTarget,
  { before, after }: { before: string; after: string },
): Promise<Record<string, unknown>> {
  const { diff, added, removed } = await createUnifiedDiff(displayPath(workspace, path), before, after);
  return { diff, added, removed };
}

function lineCount(text: string): string {
  const lines = countLines(text);
  return lines === 1 ? "1 line" : `${lines} lines`;
}
