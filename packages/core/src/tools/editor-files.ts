import { accessSync, type BigIntStats, constants, lstatSync } from "node:fs";
import { locateFile, readWholeFile } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { monotonicMs, sleep } from "../infrastructure/runtime.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import { isNotebookName } from "../infrastructure/text/notebook.ts";
import { decodeUtf8, encodeText, NotUtf8Error, type TextContent } from "../infrastructure/text/text-file.ts";
import { findLineEnds, fromLineFeeds, toLineFeeds } from "./edit/lines.ts";
import type { ApprovedTarget } from "./target.ts";
import { createFingerprint, type EditorFiles, type Workspace } from "./workspace.ts";

/** The text of a file that an editor has changed and not saved. */
export interface UnsavedText {
  /** With the line ends that the file has. */
  text: string;
  /** True if the editor itself uses line feeds where the file has other line ends. */
  hasOwnLineEnds: boolean;
}

// Larger files are those of the disk, as are files that are not UTF-8 text: editors show them in ways of their own.
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_CHARS = 2 * MAX_BYTES;

/**
 * What an editor has of a file, if that is not what the disk has; undefined if there is no difference, or no editor.
 * @throws Error, a sentence, if the editor does not answer with a text.
 */
export async function readUnsaved(
  workspace: Workspace,
  target: ApprovedTarget,
  signal: AbortSignal,
): Promise<UnsavedText | undefined> {
  const { editor } = workspace;
  const saved = editor?.read && readEditorText(workspace, target);
  if (!editor?.read || !saved) return undefined;
  const shown = await editor.read(target.realPath, signal);
  const { path } = target;
  if (shown.length > MAX_CHARS || shown.includes("\0") || !shown.isWellFormed())
    throw new Error(
      `The editor's answer for ${path} is not the text of a file. Save it there, then try again.`,
    );
  const text = shown.replace(/^\ufeff/, "");
  const { main } = findLineEnds(saved.text);
  const hasOwnLineEnds = main !== "\n" && text.includes("\n") && !text.includes("\r");
  const withLineEnds = hasOwnLineEnds ? fromLineFeeds(text, main) : text;
  return withLineEnds === saved.text ? undefined : { text: withLineEnds, hasOwnLineEnds };
}

/** True if a change of this file is made by the editor. */
export function isChangedInEditor(workspace: Workspace, target: ApprovedTarget): boolean {
  if (!workspace.editor?.write || !isOfEditor(workspace, target)) return false;
  return target.stats === undefined || readEditorText(workspace, target) !== undefined;
}

/** A file of the project by its own name: editors do not show links and temporary files of commands. */
function isOfEditor({ root, files }: Workspace, { path, realPath }: ApprovedTarget): boolean {
  const isPlain = path === realPath && isInside(realPath, root);
  return isPlain && !isNotebookName(path) && files.encodingOf(realPath) === undefined;
}

/** The text on the disk; undefined for what editors are not asked about. */
function readEditorText(workspace: Workspace, target: ApprovedTarget): TextContent | undefined {
  const { stats, realPath } = target;
  if (!stats?.isFile() || stats.size > MAX_BYTES || !isOfEditor(workspace, target)) return undefined;
  try {
    const content = decodeUtf8(readWholeFile(realPath));
    return content.hasByteOrderMark ? undefined : content;
  } catch (error) {
    if (error instanceof NotUtf8Error) return undefined;
    throw error;
  }
}

/** How long an editor may take to save after it has answered. */
const SAVE_MS = 3_000;
/** A file that stays as it is for this long has been saved with other content, such as by a formatter. */
const SETTLED_MS = 300;
const PAUSE_MS = 20;

/**
 * Lets the editor write a file, and remembers it as seen once it is on the disk.
 * @param target as it was when the change was computed.
 * @returns a note for the model; empty if the file has exactly the new content.
 * @throws Error, a sentence, if the file has changed since it was located, or has not changed afterwards.
 */
export async function saveInEditor(
  workspace: Workspace,
  target: ApprovedTarget,
  {
    content,
    unsaved,
    signal,
  }: { content: TextContent; unsaved: UnsavedText | undefined; signal: AbortSignal },
): Promise<string> {
  const { path, realPath } = target;
  const before = lstatSync(realPath, { bigint: true, throwIfNoEntry: false });
  if (!isSameFile(before, target.stats))
    throw new Error(`${path} has changed on disk since it was read. Read it again, then try again.`);
  if (before) assertWritable(target);
  const text = unsaved?.hasOwnLineEnds ? toLineFeeds(content.text) : content.text;
  await workspace.editor?.write?.(realPath, text, signal);
  const wanted = encodeText(content);
  const end = monotonicMs() + SAVE_MS;
  let seen = before;
  let changedAt = monotonicMs();
  while (!signal.aborted) {
    const { stats } = locateFile(realPath);
    if (!isSameFile(stats, seen)) [seen, changedAt] = [stats, monotonicMs()];
    if (stats?.isFile() && !isSameFile(stats, before)) {
      const isWanted =
        stats.size === BigInt(wanted.length) && Buffer.from(readWholeFile(realPath)).equals(wanted);
      const isSettled = monotonicMs() - changedAt > SETTLED_MS;
      // Where the editor has written something else, it counts as a change by others.
      if (isWanted || isSettled)
        workspace.files.recordModified(realPath, createFingerprint(stats, wanted), wanted);
      if (isWanted) return "";
      if (isSettled)
        return "\nThe editor saved it with other changes of its own. Read it before you edit it again.";
    }
    if (monotonicMs() > end) break;
    await sleep(PAUSE_MS, signal);
  }
  throw new Error(
    `The editor did not save ${path}: the file on disk is unchanged. Ask the user to save it, then read it.`,
  );
}

/** An editor may replace a file that is read-only, as only its directory has to allow that. */
function assertWritable({ path, realPath }: ApprovedTarget): void {
  try {
    accessSync(realPath, constants.W_OK);
  } catch (error) {
    throw new Error(`Cannot write ${path}: ${systemErrorText(error)}. The file was left unchanged.`);
  }
}

function isSameFile(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one?.ino === other?.ino && one?.mtimeNs === other?.mtimeNs && one?.size === other?.size;
}

const changes = new WeakMap<EditorFiles, Promise<unknown>>();

/** One change after the other: a sub-agent could otherwise compute its own from a text that is about to change. */
export function changeInTurn<T>(editor: EditorFiles, change: () => Promise<T>): Promise<T> {
  const made = (changes.get(editor) ?? Promise.resolve()).then(change);
  changes.set(
    editor,
    made.catch(() => {}),
  );
  return made;
}

/** The error for a change of a file that the user has changed in an editor that makes no changes for us. */
export function unsavedError(path: string): Error {
  return new Error(
    `${path} has unsaved changes in the editor. Ask the user to save or discard them, then read it and try again.`,
  );
}
