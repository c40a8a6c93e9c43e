import { resolve } from "node:path";
import { compareTexts } from "@diligent/core/interactive";
import type { PathVersion, SessionChange } from "@diligent/core/light";
import type { Block } from "../blocks.ts";
import { formatCount } from "../text/format-amount.ts";
import { showPath } from "../text/show-path.ts";
import type { DescribedEdits } from "./describe-edits.ts";

type Change = Extract<Block, { type: "change" }>;

// A larger text is no reading matter, and comparing it would take seconds.
const MAX_TEXT_BYTES = 1024 * 1024;

/** What a session has changed in the project, whatever tool did it, as it is now compared with before. */
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
  if (count === 0)
    return "Nothing in the project is different from what it was when this session first changed something.";
  const texts = blocks.filter((block): block is Change => block.type === "change");
  const sum = (key: "added" | "removed") => texts.reduce((total, block) => total + block[key], 0);
  return `${formatCount(count, "path")} changed, +${sum("added")} −${sum("removed")}, whichever tool did it. /undo takes back what the last prompt changed.`;
}

/** From the working directory, where it is below; else from the project's root, as it is kept. */
function toShownPath(path: string, { cwd, root }: { cwd: string; root: string }): string {
  const absolute = resolve(root, path);
  const shown = showPath(absolute, cwd);
  return (shown === absolute ? path : shown).toWellFormed();
}

/** Undefined for what cannot be shown as a text. */
async function compareVersions(path: string, { before, now }: SessionChange): Promise<Change | undefined> {
  const [old, current] = [textOf(before), textOf(now)];
  if (old === undefined || current === undefined || old === current) return undefined;
  if (before?.kind !== "file" && now?.kind !== "file") return undefined;
  const { diff, added, removed } = await compareTexts(path, old, current);
  return { type: "change", path, diff: withoutHead(diff), added, removed };
}

/** The hunks alone: the path stands above them. */
function withoutHead(diff: string): string {
  return diff.slice(Math.max(0, diff.indexOf("@@")));
}

/** Nothing is an empty text. */
function textOf(version: PathVersion | undefined): string | undefined {
  if (version === undefined) return "";
  if (version.kind !== "file" || version.content === undefined) return undefined;
  if (version.size > MAX_TEXT_BYTES || version.content.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(version.content);
  } catch {
    return undefined; // It is in another encoding, or no text.
  }
}

/** What a difference between two texts does not show. */
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
  const kind = content === undefined ? "file that is not kept" : "binary or large file";
  return `${kind} (${formatCount(size, "byte")})`;
}

function octal({ mode }: { mode: number }): string {
  return mode.toString(8).padStart(3, "0");
}
