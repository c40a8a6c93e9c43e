import { z } from "zod";
import type { TextContent } from "../infrastructure/content/text-file.ts";
import { withParentDirectories } from "../infrastructure/writing/parent-directories.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import { countLines, findLineEnds, fromLineFeeds } from "./edit/line-ends.ts";
import { type ApprovedTarget, createTargetGate } from "./target/approved-target.ts";
import { displayPath } from "./target/display-path.ts";
import { assertWholeCharacters, openForChange, saveChange } from "./target/open-for-change.ts";
import type { Workspace } from "./workspace.ts";

const parameters = z.strictObject({
  file_path: z.string(),
  content: z.string().describe("The whole content"),
});

/**
 * Makes a file or replaces the content of one that the session has read. A replaced file keeps its mode, links and byte
 * order mark. It also keeps its line ends: content without any CR is written with the file's most frequent line end,
 * since models write LF and a file whose every line changes is no readable change. Content with a CR is written as it is.
 */
export function createWriteTool(workspace: Workspace): Tool<typeof parameters> {
  const gate = createTargetGate(workspace, { toolName: "write", permission: "write" });
  return {
    name: "write",
    description:
      "Create a file, with its directories, or replace the whole content of one that was read in this session. " +
      "To change a part of a file, use edit.",
    parameters,
    changesFiles: true,
    approval: gate.approval,
    async execute(args, { signal }) {
      if (args.file_path.endsWith("/")) {
        throw new Error(
          `${args.file_path} names a directory. Give the path of a file; its directories are made.`,
        );
      }
      assertWholeCharacters("content", args.content);
      const target = gate.locate(args);
      signal.throwIfAborted();
      const { content } = args;
      return target.stats
        ? overwrite(workspace, target, adaptContent(openForChange(workspace, target, target.stats), content))
        : create(workspace, target, content);
    },
  };
}

async function create(workspace: Workspace, target: ApprovedTarget, text: string): Promise<ToolResult> {
  withParentDirectories(target.realPath, () =>
    saveChange(workspace, target, { text, hasByteOrderMark: false }),
  );
  const metadata = await diffMetadata(workspace, target, { before: "", after: text });
  return { output: `Created ${target.path} (${lineCount(text)}).`, metadata };
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
    return { output: `${target.path} has exactly this content already; nothing was written.` };
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
  const { createUnifiedDiff } = await import("./edit/unified-diff.ts");
  const { diff, added, removed } = await createUnifiedDiff(displayPath(workspace, path), before, after);
  return { diff, added, removed };
}

function lineCount(text: string): string {
  const lines = countLines(text);
  return lines === 1 ? "1 line" : `${lines} lines`;
}
