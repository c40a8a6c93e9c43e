import { resolve } from "node:path";
import { compareTexts, isInside } from "@diligent/core/interactive";
import type { PathVersion, SessionChange } from "@diligent/core/light";
import type { Message, SessionEntry } from "@diligent/core/run";
import { formatCount, showPath } from "./text.ts";
import { toTranscriptBlocks } from "./transcript.ts";
import type { Block } from "./view.ts";

type Change = Extract<Block, { type: "change" }>;

// Nobody reads a larger text in a terminal, and comparing it would take seconds.
const MAX_TEXT_BYTES = 1024 * 1024;

/**
 * What a session has changed in the project, whichever tool changed it: a comparison of the current files
 * with their earlier state.
 */
export async function describeChanges(
  changes: readonly SessionChange[],
  place: { cwd: string; root: string },
): Promise<DescribedEdits> {
  const blocks: Block[] = [];
  const others: string[] = [];
  for (const change of changes) {
    const path = toShownPath(change.path, place);
    const block = await compareVersions(path, change);
    if (block) blocks.push(block);
    const other = block ? describeMode(change) : describeOther(change);
    if (other !== undefined) others.push(`${path}: ${other}`);
  }
  if (others.length > 0) blocks.push({ type: "output", text: others.join("\n") });
  return { blocks, summary: summarize(blocks, changes.length) };
}

function summarize(blocks: readonly Block[], count: number): string {
  if (count === 0) return "The project is the same as before this session's first change.";
  const texts = blocks.filter((block): block is Change => block.type === "change");
  const sum = (key: "added" | "removed") => texts.reduce((total, block) => total + block[key], 0);
  return `${formatCount(count, "path")} changed, +${sum("added")} −${sum("removed")}, by any tool. /undo undoes the last prompt's changes.`;
}

/** Relative to the working directory if it is below it, otherwise to the project root, as stored. */
function toShownPath(path: string, { cwd, root }: { cwd: string; root: string }): string {
  const absolute = resolve(root, path);
  const shown = showPath(absolute, cwd);
  return (shown === absolute ? path : shown).toWellFormed();
}

/** Undefined for content that is not text. */
async function compareVersions(path: string, { before, now }: SessionChange): Promise<Change | undefined> {
  const [old, current] = [textOf(before), textOf(now)];
  if (old === undefined || current === undefined || old === current) return undefined;
  if (before?.kind !== "file" && now?.kind !== "file") return undefined;
  const { diff, added, removed } = await compareTexts(path, old, current);
  return { type: "change", path, diff: withoutHead(diff), added, removed };
}

/** Only the hunks: the path is shown above them. */
function withoutHead(diff: string): string {
  return diff.slice(Math.max(0, diff.indexOf("@@")));
}

/** A missing file counts as an empty text. */
function textOf(version: PathVersion | undefined): string | undefined {
  if (version === undefined) return "";
  if (version.kind !== "file" || version.content === undefined) return undefined;
  if (version.size > MAX_TEXT_BYTES || version.content.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(version.content);
  } catch {
    return undefined; // It has another encoding, or is not text.
  }
}

/** Differences that a text diff does not show. */
function describeMode({ before, now }: SessionChange): string | undefined {
  if (before?.kind !== "file" || now?.kind !== "file" || before.mode === now.mode) return undefined;
  return `permissions ${octal(before)} → ${octal(now)}`;
}

function describeOther({ before, now }: SessionChange): string {
  if (before === undefined) return `new ${describeVersion(now)}`;
  if (now === undefined) return `removed ${describeVersion(before)}`;
  if (before.kind === "file" && now.kind === "file") return describeFiles(before, now);
  if (before.kind === "directory" && now.kind === "directory")
    return `permissions ${octal(before)} → ${octal(now)}`;
  return `${describeVersion(before)} → ${describeVersion(now)}`;
}

function describeFiles(
  before: Extract<PathVersion, { kind: "file" }>,
  now: Extract<PathVersion, { kind: "file" }>,
): string {
  const isSame = before.content && now.content && Buffer.from(before.content).equals(now.content);
  if (isSame) return `permissions ${octal(before)} → ${octal(now)}`;
  return `${describeVersion(before)} → ${describeVersion(now)}`;
}

function describeVersion(version: PathVersion | undefined): string {
  switch (version?.kind) {
    case "file":
      return describeFile(version);
    case "link":
      return `link to ${version.target.toWellFormed()}`;
    case "directory":
      return "directory";
    default:
      return "something else";
  }
}

function describeFile({ content, size }: Extract<PathVersion, { kind: "file" }>): string {
  if (size === 0) return "empty file";
  const kind = content === undefined ? "file that is not recorded" : "binary or large file";
  return `${kind} (${formatCount(size, "byte")})`;
}

function octal({ mode }: { mode: number }): string {
  return mode.toString(8).padStart(3, "0");
}

/** The edits of a conversation, for display. */
interface DescribedEdits {
  /** One per file. */
  blocks: readonly Block[];
  /** The extent of the edits, and what is left out. */
  summary: string;
}

/**
 * The edits of a conversation, as far as its messages show them.
 * @param path its entries from the root on, including summarized ones.
 * @param outside restricts the result to files outside this directory.
 */
export async function describeEdits(
  path: readonly SessionEntry[],
  cwd: string,
  { outside }: { outside?: string | undefined } = {},
): Promise<DescribedEdits> {
  const messages = path.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const all = collectEdits(messages, cwd);
  const files =
    outside === undefined ? all : all.filter((file) => !isInside(resolve(cwd, file.path), outside));
  const blocks: Change[] = [];
  for (const file of files) blocks.push(await toChange(file));
  if (files.length === 0) return { blocks, summary: `No files edited in this session. ${UNKNOWN}` };
  const sum = (key: "added" | "removed") => blocks.reduce((total, block) => total + block[key], 0);
  const overwritten = files.flatMap(({ path, isBeginningUnknown }) => (isBeginningUnknown ? [path] : []));
  return {
    blocks,
    summary: [
      `${formatCount(files.length, "file")} edited, +${sum("added")} −${sum("removed")}.`,
      UNKNOWN,
      ...(overwritten.length === 0
        ? []
        : [`The previous content of ${overwritten.join(", ")} is unknown: overwritten.`]),
    ].join(" "),
  };
}

const UNKNOWN = "Changes by commands, other programs or you are not included.";

async function toChange({ path, steps }: FileEdits): Promise<Change> {
  const change: Change = { type: "change", path, diff: "", added: 0, removed: 0 };
  for (const step of steps) {
    const { diff, added, removed } = await compareTexts(path, step.before, step.after);
    change.diff += shiftHunks(diff, step);
    change.added += added;
    change.removed += removed;
  }
  return change;
}

/**
 * Only the hunks, numbered as in the file. Notes about a missing line end at the end of a part are omitted.
 */
function shiftHunks(diff: string, { firstLine }: EditStep): string {
  const lines = diff.split("\n").slice(2);
  return lines
    .filter((line) => !line.startsWith("\\ No newline"))
    .map((line) =>
      line.replace(
        /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@/,
        (_, old: string, oldLength = "", current: string, length = "") =>
          `@@ -${Number(old) + firstLine - 1}${oldLength} +${Number(current) + firstLine - 1}${length} @@`,
      ),
    )
    .join("\n");
}

/** One edit of a file by the session. */
interface EditStep {
  before: string;
  after: string;
  /** The line where `before` began in the file at that time, 1-based. */
  firstLine: number;
}

/** All edits of one file by the conversation, in order. */
interface FileEdits {
  /** Relative to the working directory if it is below it. */
  path: string;
  steps: readonly EditStep[];
  /** No message contains the content that was overwritten. */
  isBeginningUnknown: boolean;
}

/**
 * The effects of successful `edit` and `write` calls, per file, in the order of the first change. From the
 * first `write` on, the content of a file is known, and the following changes are combined into one; an
 * `edit` before that is shown separately.
 */
function collectEdits(messages: readonly Message[], cwd: string): FileEdits[] {
  const files = new Map<string, EditedFile>();
  for (const { toolName, input, metadata } of listSucceeded(messages)) {
    const path = textOfInput(input, "file_path");
    if (path === undefined) continue;
    const absolute = resolve(cwd, path);
    const file = files.get(absolute) ?? new EditedFile();
    files.set(absolute, file);
    if (toolName === "write") file.write(textOfInput(input, "content") ?? "", metadata);
    else file.edit(input, metadata);
  }
  return [...files].flatMap(([absolute, file]) => {
    const edits = { path: showPath(absolute, cwd), ...file.finish() };
    return edits.steps.length === 0 ? [] : [edits];
  });
}

interface SucceededCall {
  toolName: string;
  input: unknown;
  metadata: Metadata;
}

type Metadata = Readonly<Record<string, unknown>>;

function listSucceeded(messages: readonly Message[]): SucceededCall[] {
  return toTranscriptBlocks(messages).flatMap((block) => {
    if (block.type !== "tool") return [];
    const { toolName, input, result } = block.call;
    if (result?.isError !== false || (toolName !== "edit" && toolName !== "write")) return [];
    return [{ toolName, input, metadata: result.metadata }];
  });
}

class EditedFile {
  private readonly steps: EditStep[] = [];
  private isBeginningUnknown = false;
  /** The content, if it is known, and the content when it first became known. */
  private known: { from: string; to: string } | undefined;

  write(content: string, { created, unchanged }: Metadata): void {
    if (unchanged) return;
    const to = toLineFeeds(content);
    if (created) {
      this.settle();
      this.known = { from: "", to };
    } else if (this.known) {
      this.known.to = to;
    } else {
      this.isBeginningUnknown = true;
      this.known = { from: "", to };
    }
  }

  edit(input: unknown, { matchLine, matchLines }: Metadata): void {
    const edits = argumentOf(input, "edits");
    const list: unknown[] = Array.isArray(edits) && edits.length > 0 ? edits : [input];
    const lines = typeof matchLines === "string" ? matchLines.split(" ").map(Number) : [matchLine];
    for (const [index, edit] of list.entries()) this.replace(edit, lines[index]);
  }

  private replace(input: unknown, matchLine: unknown): void {
    const before = toLineFeeds(textOfInput(input, "old_string") ?? "");
    const after = toLineFeeds(textOfInput(input, "new_string") ?? "");
    const isEverywhere = argumentOf(input, "replace_all") === true;
    const edited = this.known && replace(this.known.to, { before, after, isEverywhere });
    if (this.known && edited !== undefined) {
      this.known.to = edited;
      return;
    }
    // Somebody else has changed the file meanwhile.
    this.settle();
    this.steps.push({ before, after, firstLine: typeof matchLine === "number" ? matchLine : 1 });
  }

  finish(): Pick<FileEdits, "steps" | "isBeginningUnknown"> {
    this.settle();
    return { steps: this.steps, isBeginningUnknown: this.isBeginningUnknown };
  }

  private settle(): void {
    const { known } = this;
    if (known && known.from !== known.to)
      this.steps.push({ before: known.from, after: known.to, firstLine: 1 });
    this.known = undefined;
  }
}

interface Replacement {
  before: string;
  after: string;
  isEverywhere: boolean;
}

/** Undefined if the replaced text is unknown. */
function replace(text: string, { before, after, isEverywhere }: Replacement): string | undefined {
  const at = before === "" ? -1 : text.indexOf(before);
  if (at < 0) return undefined;
  if (isEverywhere) return text.replaceAll(before, () => after);
  if (text.indexOf(before, at + 1) >= 0) return undefined;
  return text.slice(0, at) + after + text.slice(at + before.length);
}

function textOfInput(input: unknown, name: string): string | undefined {
  const value = argumentOf(input, name);
  return typeof value === "string" ? value : undefined;
}

function argumentOf(input: unknown, name: string): unknown {
  if (typeof input !== "object" || input === null) return undefined;
  return new Map<string, unknown>(Object.entries(input)).get(name);
}

function toLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
