import { lstatSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { withDirectoryLock } from "../../infrastructure/fs/directory-lock.ts";
import { inNewDirectories, withParentDirectories } from "../../infrastructure/fs/private-files.ts";
import { locateFile, readWholeFile } from "../../infrastructure/fs/read.ts";
import { HeldDirectory } from "../../infrastructure/fs/real-path.ts";
import { writeWholeFile } from "../../infrastructure/fs/write.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import type { TextContent } from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import { countLines } from "../edit/lines.ts";
import { restoreChange, restoreContent } from "../edit/restore-secrets.ts";
import { createUnifiedDiff } from "../edit/unified-diff.ts";
import { assertWholeCharacters, NEVER, openForPatch, previewChange, saveChange } from "../edit/write-file.ts";
import {
  changeInTurn,
  isChangedInEditor,
  readUnsaved,
  saveInEditor,
  type UnsavedText,
  unsavedError,
} from "../editor-files.ts";
import { missingFileError } from "../missing-file.ts";
import { type ApprovedTarget, displayPath } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { applyHunk } from "./apply-hunk.ts";
import type { FilePatch, PatchHunk } from "./parse-patch.ts";

/** A section of a patch, and the approved files that it reads and writes. */
export interface LocatedPatch {
  patch: FilePatch;
  /** Resolved anew by each call. */
  locate(): ApprovedTarget;
  /** The new location of a file that is moved. */
  locateNew?: (() => ApprovedTarget) | undefined;
}

/** What happens to one file. */
interface PlannedFile {
  kind: "add" | "delete" | "update" | "move";
  target: ApprovedTarget;
  /** Where a moved file goes. */
  newTarget?: ApprovedTarget | undefined;
  before: TextContent;
  after: TextContent;
  hunks: number;
  /** Indices of hunks that matched only loosely. */
  looseHunks: number[];
  /** See `planFile`. */
  unsaved: UnsavedText | undefined;
  /** What the model should know of how the editor has saved it. */
  saved?: string;
}

const EMPTY: TextContent = { text: "", hasByteOrderMark: false };

/**
 * Applies a patch, to all of its files or to none. @throws Error that says why it failed; no file is changed then.
 */
export async function applyPatch(
  workspace: Workspace,
  located: readonly LocatedPatch[],
  signal: AbortSignal,
): Promise<ToolResult> {
  signal.throwIfAborted();
  const { editor } = workspace;
  const isOfEditor = located.some((each) => isChangedInEditor(workspace, locateWritten(each)));
  const planned =
    editor && isOfEditor
      ? await changeInTurn(editor, () => patchInEditor(workspace, located, signal))
      : await patchOnDisk(workspace, located, signal);
  return describe(workspace, planned);
}

function locateWritten({ locate, locateNew }: LocatedPatch): ApprovedTarget {
  return locateNew?.() ?? locate();
}

async function patchOnDisk(
  workspace: Workspace,
  located: readonly LocatedPatch[],
  signal: AbortSignal,
): Promise<PlannedFile[]> {
  for (const { locate } of located) {
    const target = locate();
    if (await readUnsaved(workspace, target, signal)) throw unsavedError(target.path);
  }
  return withLocks(listDirectories(located), () => {
    signal.throwIfAborted();
    // Everything is computed before anything is written.
    const files = located.map((each) => planFile(workspace, each));
    writeAllOrNone(workspace, files);
    return files;
  });
}

/** In one order for all processes. */
function listDirectories(located: readonly LocatedPatch[]): string[] {
  const directories = located.flatMap(({ locate, locateNew }) =>
    [locate(), ...(locateNew ? [locateNew()] : [])].map(({ realPath }) => dirname(realPath)),
  );
  return [...new Set(directories)].sort();
}

/**
 * The editor writes the files that it can, one after the other, and the others are written to the disk. Locks cannot be
 * held meanwhile: a file that somebody else has changed is noticed when it is written.
 */
async function patchInEditor(
  workspace: Workspace,
  located: readonly LocatedPatch[],
  signal: AbortSignal,
): Promise<PlannedFile[]> {
  const unsaved = new Map<LocatedPatch, UnsavedText | undefined>();
  for (const each of located) {
    const target = each.locate();
    const text = await readUnsaved(workspace, target, signal);
    // An editor would keep showing the text of a file that is removed, or not in its reach.
    const isKept = each.patch.kind === "update" && !each.locateNew && isChangedInEditor(workspace, target);
    if (text && !isKept) throw unsavedError(target.path);
    unsaved.set(each, text);
  }
  const files = await withLocks(listDirectories(located), () => {
    signal.throwIfAborted();
    return located.map((each) => planFile(workspace, each, unsaved.get(each)));
  });
  const undo: Undo[] = [];
  try {
    for (const file of files) undo.push(...(await writeFileInEditor(workspace, file, signal)));
    for (const file of files) undo.push(...removeFile(file));
    return files;
  } catch (error) {
    const failures: string[] = [];
    for (const step of undo.reverse()) failures.push(...(await failureOf(step)));
    throw notAppliedError(error, failures);
  }
}

async function writeFileInEditor(
  workspace: Workspace,
  file: PlannedFile,
  signal: AbortSignal,
): Promise<Undo[]> {
  const { kind, target, newTarget, before, after, unsaved } = file;
  const written = newTarget ?? target;
  if (kind === "delete" || !isChangedInEditor(workspace, written)) return writeFile(workspace, file);
  if (kind !== "add") workspace.files.recordReplaced(written.realPath, before.text);
  const save = () => saveInEditor(workspace, written, { content: after, unsaved, signal });
  file.saved = await (written.stats ? save() : inNewDirectories(written.realPath, save));
  if (!written.stats) return [() => unlinkSync(written.realPath)];
  return [
    async () => {
      const now = { ...written, ...locateFile(written.realPath) };
      await saveInEditor(workspace, now, { content: before, unsaved, signal: NEVER });
    },
  ];
}

/** The changes of all files as one unified diff; see `previewChange`. */
export async function previewPatch(
  workspace: Workspace,
  located: readonly LocatedPatch[],
): Promise<string | undefined> {
  const diffs: string[] = [];
  for (const each of located) {
    const unsaved = await readUnsaved(workspace, each.locate(), NEVER);
    const { target, newTarget, before, after } = planFile(workspace, each, unsaved);
    const diff = await previewChange(workspace, {
      path: (newTarget ?? target).path,
      sizes: [before.text.length, after.text.length],
      plan: () => ({ before: before.text, after: after.text }),
    });
    if (diff !== undefined) diffs.push(diff);
  }
  return diffs.length === 0 ? undefined : diffs.join("");
}

/** In one order for all processes, so that two of them never wait for each other. */
function withLocks<T>(directories: readonly string[], change: () => T): Promise<T> {
  const [first, ...rest] = directories;
  if (first === undefined) return Promise.resolve().then(change);
  if (rest.length === 0) return withDirectoryLock(first, change);
  return withDirectoryLock(first, () => withLocks(rest, change)).then((changed) => changed);
}

/** @param unsaved what the user's editor has of the file, if that is not what the disk has. */
function planFile(
  workspace: Workspace,
  { patch, locate, locateNew }: LocatedPatch,
  unsaved?: UnsavedText,
): PlannedFile {
  const target = locate();
  switch (patch.kind) {
    case "add":
      return planAdd(workspace, target, patch.lines);
    case "delete":
      assertNoLink(target);
      return { ...planExisting(workspace, target), kind: "delete", after: EMPTY };
    case "update":
      return planUpdate(workspace, { patch, target, newTarget: locateNew?.(), unsaved });
  }
}

function planAdd(workspace: Workspace, target: ApprovedTarget, lines: readonly string[]): PlannedFile {
  if (target.stats) {
    throw new Error(
      `${target.path} exists, so it cannot be added; nothing was changed. Read it and use *** Update File.`,
    );
  }
  const masked = lines.map((line) => `${line}\n`).join("");
  const text = restoreContent(workspace, { path: target.path, before: "" }, masked);
  assertWholeCharacters("The patch", text);
  const after = { ...EMPTY, text };
  return { kind: "add", target, unsaved: undefined, before: EMPTY, after, hunks: 0, looseHunks: [] };
}

/** Removing the file that a link leads to would leave the link, and is hardly meant. */
function assertNoLink({ path }: ApprovedTarget): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`${path} is a symbolic link; nothing was changed. Use bash to move or delete it.`);
}

function planExisting(
  workspace: Workspace,
  target: ApprovedTarget,
  unsaved?: UnsavedText,
): Omit<PlannedFile, "kind"> {
  if (!target.stats) throw missingFileError(workspace, target);
  const saved = openForPatch(workspace, target, target.stats);
  const before = unsaved ? { ...saved, text: unsaved.text } : saved;
  return { target, unsaved, before, after: before, hunks: 0, looseHunks: [] };
}

function planUpdate(
  workspace: Workspace,
  {
    patch: { hunks, moveTo },
    target,
    newTarget,
    unsaved,
  }: {
    patch: FilePatch & { kind: "update" };
    target: ApprovedTarget;
    newTarget: ApprovedTarget | undefined;
    unsaved: UnsavedText | undefined;
  },
): PlannedFile {
  if (moveTo !== undefined) assertNoLink(target);
  const existing = planExisting(workspace, target, unsaved);
  const { before } = existing;
  if (newTarget?.stats)
    throw new Error(`${newTarget.path} exists, so nothing can be moved there; nothing was changed.`);
  let { text } = before;
  let from = 0;
  const looseHunks: number[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const name = hunks.length === 1 ? "The hunk" : `Hunk ${index + 1} of ${hunks.length}`;
    const newText = hunk.newLines.join("\n");
    assertWholeCharacters("The patch", newText);
    const file = { path: target.path, before: text };
    const patched = applyHunk(text, restoreHunk(workspace, file, hunk), { path: target.path, name, from });
    text = patched.text;
    from = patched.nextIndex;
    if (!patched.isExact) looseHunks.push(index + 1);
  }
  if (moveTo === undefined && text === before.text)
    throw new Error(`The patch leaves ${target.path} as it is; there is nothing to change.`);
  const kind = moveTo === undefined ? "update" : "move";
  return { ...existing, kind, newTarget, after: { ...before, text }, hunks: hunks.length, looseHunks };
}

/** The hunk with the secrets of the file in place of their placeholders. */
function restoreHunk(
  workspace: Workspace,
  file: { path: string; before: string },
  hunk: PatchHunk,
): PatchHunk {
  const texts = { oldText: hunk.oldLines.join("\n"), newText: hunk.newLines.join("\n") };
  const names = { oldText: "the patch", newText: "the patch" };
  const restored = restoreChange(workspace, file, { texts, names });
  if (restored === texts) return hunk;
  return {
    ...hunk,
    oldLines: hunk.oldLines.length === 0 ? [] : restored.oldText.split("\n"),
    newLines: hunk.newLines.length === 0 ? [] : restored.newText.split("\n"),
  };
}

type Undo = () => void | Promise<void>;

/** Writes before it deletes; what was done before a failure is undone. */
function writeAllOrNone(workspace: Workspace, files: readonly PlannedFile[]): void {
  const undo: (() => void)[] = [];
  try {
    for (const file of files) undo.push(...writeFile(workspace, file));
    for (const file of files) undo.push(...removeFile(file));
  } catch (error) {
    throw notAppliedError(error, undo.reverse().flatMap(failureOfSync));
  }
}

function notAppliedError(error: unknown, failures: readonly string[]): Error {
  const reason = error instanceof Error ? error.message : String(error);
  const rest = failures.length > 0 ? ` Not everything could be undone: ${failures.join("; ")}.` : "";
  return new Error(`The patch was not applied: ${reason} The other files were left as they were.${rest}`);
}

function failureOfSync(step: () => void): string[] {
  try {
    step();
    return [];
  } catch (error) {
    return [systemErrorText(error)];
  }
}

async function failureOf(step: Undo): Promise<string[]> {
  try {
    await step();
    return [];
  } catch (error) {
    return [systemErrorText(error)];
  }
}

function writeFile(
  workspace: Workspace,
  { kind, target, newTarget, before, after }: PlannedFile,
): (() => void)[] {
  if (kind === "delete") return [];
  const written = newTarget ?? target;
  if (kind !== "add") workspace.files.recordReplaced(written.realPath, before.text);
  if (written.stats === undefined) {
    withParentDirectories(written.realPath, () => saveChange(workspace, written, after));
    return [() => unlinkSync(written.realPath)];
  }
  const bytes = readWholeFile(written.realPath);
  saveChange(workspace, written, after);
  return [
    () => {
      writeWholeFile(written.realPath, bytes, lstatSync(written.realPath, { bigint: true }));
    },
  ];
}

function removeFile({ kind, target }: PlannedFile): (() => void)[] {
  if (kind !== "delete" && kind !== "move") return [];
  const bytes = readWholeFile(target.realPath);
  using directory = HeldDirectory.open(dirname(target.realPath));
  unlinkSync(directory.at(basename(target.realPath)));
  return [
    () => {
      writeWholeFile(target.realPath, bytes, undefined);
    },
  ];
}

async function describe(workspace: Workspace, files: readonly PlannedFile[]): Promise<ToolResult> {
  const shown: { line: string; diff: string; added: number; removed: number }[] = [];
  for (const file of files) {
    const path = displayPath(workspace, (file.newTarget ?? file.target).path);
    const { diff, added, removed } = await createUnifiedDiff(path, file.before.text, file.after.text);
    shown.push({ line: describeFile(workspace, file), diff, added, removed });
  }
  const loose = files.filter(({ looseHunks }) => looseHunks.length > 0);
  const notes =
    loose.length > 0
      ? [
          "White space or quotes differed from the files. Check that this is what you meant:",
          ...loose.map((file) => shown[files.indexOf(file)]?.diff ?? ""),
        ]
      : [];
  const sum = (of: (each: (typeof shown)[number]) => number) =>
    shown.reduce((total, each) => total + of(each), 0);
  const saved = files.flatMap(({ saved: note, ...file }) =>
    note ? [`${displayPath(workspace, (file.newTarget ?? file.target).path)}: ${note.trim()}`] : [],
  );
  return {
    output: ["Applied the patch:", ...shown.map(({ line }) => line), ...notes, ...saved].join("\n"),
    metadata: {
      diff: shown.map(({ diff }) => diff).join(""),
      added: sum(({ added }) => added),
      removed: sum(({ removed }) => removed),
    },
  };
}

function describeFile(workspace: Workspace, { kind, target, newTarget, after, hunks }: PlannedFile): string {
  const path = displayPath(workspace, target.path);
  const changes = hunks === 1 ? "1 hunk" : `${hunks} hunks`;
  switch (kind) {
    case "add":
      return `A ${path} (${countLines(after.text)} lines)`;
    case "delete":
      return `D ${path}`;
    case "update":
      return `M ${path} (${changes})`;
    case "move":
      return `R ${path} → ${displayPath(workspace, newTarget?.path ?? "")} (${changes})`;
  }
}
