import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { createChildEnvironment } from "../../infrastructure/process/environment.ts";
import { runRipgrep } from "../../infrastructure/process/ripgrep.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import { createUnifiedDiff } from "../../tools/edit/unified-diff.ts";
import { applyHunk } from "../../tools/patch/apply-hunk.ts";
import { parsePatch } from "../../tools/patch/parse-patch.ts";
import type { Workspace } from "../../tools/workspace.ts";
import type { RunningServer } from "./language-server.ts";
import { type FileEdits, readWorkspaceEdit, type TextEdit } from "./messages.ts";
import { readFileText } from "./servers.ts";

/** A rename that the model asks for. */
export interface RenameRequest {
  server: RunningServer;
  /** Undefined if nothing that looks like a name is there. */
  oldName: string | undefined;
  newName: string;
  /** Those of the files that the server knows. */
  extensions: readonly string[];
  /** Asks the server, which answers with a workspace edit. */
  ask(): Promise<unknown>;
}

/** Where the changes are made, and the call that makes them. */
export interface RenamePlace {
  workspace: Workspace;
  signal: AbortSignal;
  perform: ToolContext["perform"];
}

// Each answer may name files that the server has only read by itself.
const MAX_ROUNDS = 4;
const MAX_FILES = 200;
const MAX_NAMED_FILES = 3;
const UNLIMITED = { maxLines: Number.POSITIVE_INFINITY, maxLineChars: Number.POSITIVE_INFINITY };

/**
 * Renames in all files or in none, by a call of `apply_patch`: with its rules, questions, preview and undo.
 * @throws Error for the model; nothing is changed then.
 */
export async function renameSymbol(
  { server, oldName, newName, extensions, ask }: RenameRequest,
  { workspace, signal, perform }: RenamePlace,
): Promise<ToolResult> {
  const { root, cwd } = workspace;
  const opened = new Set<string>();
  try {
    // A server that still reads the project would only find the uses in files that are open.
    for (const path of await findFilesWith(oldName, { extensions, workspace, signal })) {
      const text = isInside(toRealPath(path), root) ? readFileText(path) : undefined;
      if (text === undefined) continue;
      if (!server.documents.has(path)) opened.add(path);
      server.documents.show(path, text);
    }
    const { files, texts } = await askUntilSeen({ server, ask, root, opened });
    const sections: string[] = [];
    for (const { path, edits } of files) {
      const before = texts.get(path) ?? "";
      const after = applyEdits(before, edits, path);
      if (after !== before) sections.push(await toSection(relative(cwd, path), before, after));
    }
    if (sections.length === 0) throw new Error(`It is called ${newName} already; nothing was changed.`);
    const patch = ["*** Begin Patch", ...sections, "*** End Patch"].join("\n");
    const result = await perform?.("apply_patch", { patch });
    if (!result) throw new Error("Files cannot be changed here, so nothing was renamed.");
    if (result.isError) return { ...result, output: `Nothing was renamed. ${result.output}` };
    const places = files.reduce((sum, { edits }) => sum + edits.length, 0);
    const count = places === 1 ? "1 place" : `${places} places`;
    const changedFiles = files.map(({ path }) => path);
    return {
      ...result,
      output: `Renamed to ${newName} in ${count}.\n${result.output}`,
      metadata: { ...result.metadata, changedFiles },
    };
  } finally {
    for (const path of opened) server.documents.close(path);
  }
}

/** The files of these languages in which a text occurs; those that git ignores are left out. */
async function findFilesWith(
  text: string | undefined,
  {
    extensions,
    workspace,
    signal,
  }: { extensions: readonly string[]; workspace: Workspace; signal: AbortSignal },
): Promise<string[]> {
  if (text === undefined) return [];
  const { root, environment } = workspace;
  const found: string[] = [];
  // Dependencies are not always ignored, and no server renames in them.
  const globs = [...extensions.map((extension) => `*${extension}`), "!node_modules", "!.git"].flatMap(
    (glob) => ["--iglob", glob],
  );
  await runRipgrep({
    args: ["--files-with-matches", "--null", "--hidden", "--fixed-strings", "-e", text, ...globs, "--", "."],
    cwd: root,
    environment: createChildEnvironment(workspace),
    search: { environment, outside: root },
    signal,
    separator: "\0",
    onRecord: (path) => found.push(join(root, path)) <= MAX_FILES,
  });
  signal.throwIfAborted();
  if (found.length > MAX_FILES)
    throw new Error(
      `${text} occurs in more than ${MAX_FILES} files, too many to rename it at once: use the file tools.`,
    );
  return found;
}

/**
 * The changes that the server computes from texts that it was sent: of a file that it has read by itself, nobody knows
 * which text it has.
 */
async function askUntilSeen({
  server: { documents },
  ask,
  root,
  opened,
}: Pick<RenameRequest, "server" | "ask"> & { root: string; opened: Set<string> }): Promise<{
  files: FileEdits[];
  texts: Map<string, string>;
}> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { files, hasOtherChanges } = readWorkspaceEdit(await ask());
    if (hasOtherChanges)
      throw new Error(
        "The rename would also create, move or delete files, or is invalid, so nothing was changed. Use the file tools.",
      );
    if (files.length === 0) throw new Error("It cannot be renamed: the language server names no changes.");
    assertInProject(files, root);
    const texts = new Map<string, string>();
    let isSeen = true;
    for (const { path, version } of files) {
      const text = readFileText(path);
      if (text === undefined)
        throw new Error(`${path} is larger than 1 MB, or is not UTF-8, so nothing was changed.`);
      texts.set(path, text);
      isSeen &&= documents.textOf(path) === text;
      if (!documents.has(path)) opened.add(path);
      const document = documents.show(path, text);
      isSeen &&= version === undefined || version === document.version;
    }
    if (isSeen) return { files, texts };
  }
  throw new Error("The files keep changing, so nothing was renamed. Try again.");
}

function assertInProject(files: readonly FileEdits[], root: string): void {
  if (files.length > MAX_FILES)
    throw new Error(
      `The rename would change ${files.length} files, more than ${MAX_FILES}: nothing was changed.`,
    );
  const outside = files.map(({ path }) => path).filter((path) => !isInside(toRealPath(path), root));
  if (outside.length === 0) return;
  const named = outside.slice(0, MAX_NAMED_FILES).map((path) => JSON.stringify(path));
  const more = outside.length > named.length ? `, and ${outside.length - named.length} more` : "";
  throw new Error(
    `The rename would change files outside the project (${named.join(", ")}${more}), so nothing was changed.`,
  );
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // It cannot be read either, which is reported then.
  }
}

/** @throws Error for ranges that are not in the text, or overlap. */
function applyEdits(text: string, edits: readonly TextEdit[], path: string): string {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), ({ index, 0: end }) => index + end.length)];
  const toOffset = ({ line, character }: TextEdit["range"]["start"]) => {
    const start = starts[line];
    const offset = (start ?? 0) + character;
    if (start === undefined || offset > (starts[line + 1] ?? text.length))
      throw new Error(`The language server names a place that ${path} does not have; nothing was changed.`);
    return offset;
  };
  const placed = edits
    .map(({ range, newText }) => ({ start: toOffset(range.start), end: toOffset(range.end), newText }))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  let result = "";
  let from = 0;
  for (const { start, end, newText } of placed) {
    if (start < from || end < start)
      throw new Error(`The language server's changes of ${path} overlap; nothing was changed.`);
    result += text.slice(from, start) + newText;
    from = end;
  }
  return result + text.slice(from);
}

/** The part of a patch that makes exactly this change. @throws Error if a patch cannot express it. */
async function toSection(path: string, before: string, after: string): Promise<string> {
  const header = `*** Update File: ${path}`;
  const { diff } = await createUnifiedDiff(path, before, after, UNLIMITED);
  const hunks = diff
    .split("\n")
    .slice(2)
    .filter((line) => line !== "" && !line.startsWith("\\"))
    .map((line) => (line.startsWith("@@") ? "@@" : line));
  const section = [header, ...hunks].join("\n");
  if (isExact(section, { path, before, after })) return section;
  // Where the lines around a change are in the file several times.
  const all = [...toLines(before, "-"), ...toLines(after, "+")];
  const whole = [header, "@@", ...all].join("\n");
  if (isExact(whole, { path, before, after })) return whole;
  throw new Error(`The changes of ${path} cannot be made exactly, so nothing was renamed.`);
}

function toLines(text: string, sign: string): string[] {
  const lines = text.split(/\r?\n/);
  return (lines.at(-1) === "" ? lines.slice(0, -1) : lines).map((line) => sign + line);
}

function isExact(
  section: string,
  { path, before, after }: { path: string; before: string; after: string },
): boolean {
  try {
    const [file, ...others] = parsePatch(`*** Begin Patch\n${section}\n*** End Patch`);
    if (file?.kind !== "update" || file.path !== path || others.length > 0) return false;
    let text = before;
    let from = 0;
    for (const hunk of file.hunks) {
      const patched = applyHunk(text, hunk, { path, name: "", from });
      if (!patched.isExact) return false;
      text = patched.text;
      from = patched.nextIndex;
    }
    return text === after;
  } catch {
    return false; // Its lines are in several places, or its name cannot be written in a patch.
  }
}
