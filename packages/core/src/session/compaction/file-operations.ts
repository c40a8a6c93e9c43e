import { normalize } from "node:path";
import { revealInvisible } from "../../infrastructure/content/invisible-text.ts";
import type { Message, ToolCallBlock } from "../../types.ts";
import type { CompactionDetails } from "../types.ts";
import { pairCalls } from "./pair-calls.ts";

const READING_TOOLS: ReadonlySet<string> = new Set(["read"]);
const MODIFYING_TOOLS: ReadonlySet<string> = new Set(["write", "edit"]);

/**
 * The files that calls without an error have read and modified, together with those of the compaction before: sorted,
 * each path once (`./a` and `a` are one), and what was modified not under what was read.
 */
export function extractFileOperations(
  messages: readonly Message[],
  previousDetails?: CompactionDetails,
): CompactionDetails {
  const readFiles = new Set(previousDetails?.readFiles);
  const modifiedFiles = new Set(previousDetails?.modifiedFiles);
  for (const { call, result } of pairCalls(messages)) {
    const path = result.isError ? undefined : pathOf(call);
    if (path === undefined) continue;
    if (READING_TOOLS.has(call.name)) readFiles.add(path);
    else if (MODIFYING_TOOLS.has(call.name)) modifiedFiles.add(path);
  }
  return {
    readFiles: [...readFiles.difference(modifiedFiles)].sort(),
    modifiedFiles: [...modifiedFiles].sort(),
  };
}

function pathOf({ input }: ToolCallBlock): string | undefined {
  const path = input.file_path ?? input.path;
  return typeof path === "string" && path.trim() !== "" ? normalize(path) : undefined;
}

/**
 * The lists as they follow a summary: one bare path a line, each list in its tag; an empty one is left out.
 * @param maxCharacters for the paths; what is beyond it is counted, modified files being the last to go.
 */
export function formatFileOperations(
  { readFiles, modifiedFiles }: CompactionDetails,
  { maxCharacters = Number.POSITIVE_INFINITY }: { maxCharacters?: number } = {},
): string {
  const modified = takeLines(modifiedFiles, maxCharacters);
  const read = takeLines(readFiles, maxCharacters - modified.characters);
  return (
    formatList("Files Read", "read-files", read) + formatList("Files Modified", "modified-files", modified)
  );
}

interface TakenLines {
  lines: string[];
  characters: number;
  leftOut: number;
}

function takeLines(paths: readonly string[], maxCharacters: number): TakenLines {
  const lines: string[] = [];
  let characters = 0;
  for (const path of paths) {
    const line = toLine(path);
    if (characters + line.length + 1 > maxCharacters) break;
    lines.push(line);
    characters += line.length + 1;
  }
  return { lines, characters, leftOut: paths.length - lines.length };
}

/** On one line, and never like a tag: a path may be chosen by whoever wrote the repository. */
function toLine(path: string): string {
  return revealInvisible(path).replace(/<(?=[/!?a-z])/gi, "\\u{3c}");
}

function formatList(title: string, tag: string, { lines, leftOut }: TakenLines): string {
  if (lines.length === 0 && leftOut === 0) return "";
  const note = leftOut > 0 ? `\n(${leftOut} more ${leftOut === 1 ? "file" : "files"} left out here)` : "";
  return `\n\n## ${title}\n${[`<${tag}>`, ...lines, `</${tag}>`].join("\n")}${note}`;
}
