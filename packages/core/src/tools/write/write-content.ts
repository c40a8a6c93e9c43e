import type { TextContent } from "../../infrastructure/content/text-file.ts";
import { withParentDirectories } from "../../infrastructure/writing/parent-directories.ts";
import type { ToolResult } from "../../tool/types.ts";
import { countLines, findLineEnds, fromLineFeeds } from "../edit/line-ends.ts";
import { createUnifiedDiff } from "../edit/unified-diff.ts";
import type { ApprovedTarget } from "../target/approved-target.ts";
import { displayPath } from "../target/display-path.ts";
import { assertWholeCharacters, openForChange, saveChange } from "../target/open-for-change.ts";
import { previewChange } from "../target/preview-change.ts";
import type { Workspace } from "../workspace.ts";

/** @throws Error for what no file can be written with. */
export function assertWritable({ file_path, content }: { file_path: string; content: string }): void {
  if (file_path.endsWith("/")) {
    throw new Error(`${file_path} names a directory. Give the path of a file; its directories are made.`);
  }
  assertWholeCharacters("content", content);
}

/**
 * Makes the file or replaces its content. @throws Error, with the file as it was, saying what is in the way.
 */
export async function writeFile(
  workspace: Workspace,
  target: ApprovedTarget,
  content: string,
): Promise<ToolResult> {
  return target.stats
    ? overwrite(workspace, target, adaptContent(openForChange(workspace, target, target.stats), content))
    : create(workspace, target, content);
}

/** See `previewChange`. */
export function previewWrite(
  workspace: Workspace,
  target: ApprovedTarget,
  content: string,
): Promise<string | undefined> {
  const { path, stats } = target;
  return previewChange(workspace, {
    path,
    sizes: [...(stats ? [stats.size] : []), content.length],
    plan() {
      if (!stats) return { before: "", after: content };
      const { before, after } = adaptContent(openForChange(workspace, target, stats), content);
      return { before: before.text, after: after.text };
    },
  });
}

async function create(workspace: Workspace, target: ApprovedTarget, text: string): Promise<ToolResult> {
  withParentDirectories(target.realPath, () =>
    saveChange(workspace, target, { text, hasByteOrderMark: false }),
  );
  const metadata = await diffMetadata(workspace, target, { before: "", after: text });
  return { output: `Created ${target.path} (${lineCount(text)}).`, metadata: { ...metadata, created: true } };
}

interface Overwriting {
  before: TextContent;
  after: TextContent;
  /** What of the content was adapted to the file. */
  note: string;
}

function adaptContent(before: TextContent, content: string): Overwriting {
  const { main } = findLineEnds(before.text);
  const isAdapted = main !== "\n" && !content.includes("\r") && content.includes("\n");
  const withoutMark = before.hasByteOrderMark && content.startsWith("\ufeff") ? content.slice(1) : content;
  const text = isAdapted ? fromLineFeeds(withoutMark, main) : withoutMark;
  const note = isAdapted ? ` Its ${main === "\r\n" ? "CRLF" : "CR"} line ends were kept.` : "";
  return { before, after: { ...before, text }, note };
}

async function overwrite(
  workspace: Workspace,
  target: ApprovedTarget,
  { before, after, note }: Overwriting,
): Promise<ToolResult> {
  if (before.text === after.text) {
    return {
      output: `${target.path} has exactly this content already; nothing was written.`,
      metadata: { unchanged: true },
    };
  }
  saveChange(workspace, target, after);
  const metadata = await diffMetadata(workspace, target, { before: before.text, after: after.text });
  const counts = `${lineCount(after.text)}, before ${lineCount(before.text)}`;
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
