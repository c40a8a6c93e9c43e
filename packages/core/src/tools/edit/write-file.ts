import { withParentDirectories } from "../../infrastructure/fs/private-files.ts";
import type { TextContent } from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import { type ApprovedTarget, displayPath } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { countLines, findLineEnds, fromLineFeeds } from "./lines.ts";
import {
  assertNoPlaceholders,
  assertWholeCharacters,
  changeTarget,
  openForChange,
  previewChange,
  saveChange,
  type TargetLocation,
} from "./save-file.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

/** @throws Error for arguments that cannot be written to a file. */
export function assertWritable({ file_path, content }: { file_path: string; content: string }): void {
  if (file_path.endsWith("/")) {
    throw new Error(`${file_path} names a directory. Give the path of a file; its directories are created.`);
  }
  assertWholeCharacters("content", content);
}

/** Creates the file or replaces its content. @throws Error that says why it failed; the file is unchanged then. */
export async function writeFile(
  workspace: Workspace,
  location: TargetLocation,
  content: string,
): Promise<ToolResult> {
  const written = await changeTarget(location, (target) => saveContent(workspace, target, content));
  return describe(workspace, written);
}

/** The outcome of a write; without `before` the file is new. */
interface WrittenFile {
  target: ApprovedTarget;
  before?: string;
  after: string;
  note: string;
}

function saveContent(workspace: Workspace, target: ApprovedTarget, content: string): WrittenFile {
  const { path } = target;
  if (!target.stats) {
    withParentDirectories(target.realPath, () =>
      saveChange(workspace, target, { text: content, hasByteOrderMark: false }),
    );
    return { target, after: content, note: describePlaceholders(workspace, content) };
  }
  const { before, after, note } = adaptContent(openForChange(workspace, target, target.stats), content);
  assertNoPlaceholders(workspace, { path, before: before.text, texts: { content: after.text } });
  if (before.text !== after.text) saveChange(workspace, target, after);
  return { target, before: before.text, after: after.text, note };
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
  const note = isAdapted ? ` Its ${main === "\r\n" ? "CRLF" : "CR"} line ends were kept.` : "";
  return { before, after: { ...before, text }, note };
}

/** No secret is lost in a new file, but who copied one from what they read did not copy the secret. */
function describePlaceholders({ redactor }: Workspace, content: string): string {
  const placeholders = redactor?.placeholdersIn(content) ?? [];
  if (placeholders.length === 0) return "";
  return ` It holds ${placeholders.join(", ")} as plain text: secrets are not shown, and none was put in its place.`;
}

async function describe(
  workspace: Workspace,
  { target, before, after, note }: WrittenFile,
): Promise<ToolResult> {
  if (before === after) {
    return {
      output: `${target.path} has exactly this content already; nothing was written.`,
      metadata: { unchanged: true },
    };
  }
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
