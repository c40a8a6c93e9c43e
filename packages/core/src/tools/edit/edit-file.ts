import type { TextContent } from "../../infrastructure/content/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { EditArguments } from "../edit.ts";
import type { ApprovedTarget } from "../target/approved-target.ts";
import { displayPath } from "../target/display-path.ts";
import { missingFileError } from "../target/missing-file.ts";
import { assertWholeCharacters, openForChange, saveChange } from "../target/open-for-change.ts";
import { previewChange } from "../target/preview-change.ts";
import type { Workspace } from "../workspace.ts";
import { ambiguousError, missingTextError } from "./edit-errors.ts";
import { type EditOutcome, type EditRequest, planEdit } from "./edit-plan.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

// Enough to see whether a loose match hit what was meant.
const MAX_SHOWN_DIFF_LINES = 24;

/** @throws Error for arguments that change nothing or cannot be written. */
export function toEditRequest({ old_string, new_string, replace_all }: EditArguments): EditRequest {
  assertWholeCharacters("old_string", old_string);
  assertWholeCharacters("new_string", new_string);
  // What the read tool leaves out of a file's beginning.
  const oldText = old_string.replace(/^\ufeff/, "");
  if (oldText === "") {
    throw new Error(
      "old_string is empty. Give the text to replace; to make a file or replace all of it, use write.",
    );
  }
  if (old_string === new_string)
    throw new Error("old_string and new_string are the same, so there is nothing to change.");
  return { oldText, newText: new_string, replaceAll: replace_all ?? false };
}

/** Carries an edit out. @throws Error, with the file as it was, saying what is in the way. */
export async function editFile(
  workspace: Workspace,
  target: ApprovedTarget,
  request: EditRequest,
): Promise<ToolResult> {
  const { before, after, outcome } = planFileEdit(workspace, target, request);
  saveChange(workspace, target, after);
  const shownPath = displayPath(workspace, target.path);
  const { diff, added, removed, firstLine } = await createUnifiedDiff(shownPath, before.text, after.text);
  const metadata = { diff, added, removed, firstLine, matchLine: outcome.firstLine };
  return { output: describe(target.path, outcome, diff), metadata };
}

/** See `previewChange`. */
export function previewEdit(
  workspace: Workspace,
  target: ApprovedTarget,
  request: EditRequest,
): Promise<string | undefined> {
  return previewChange(workspace, {
    path: target.path,
    sizes: [target.stats?.size ?? 0],
    plan() {
      const { before, after } = planFileEdit(workspace, target, request);
      return { before: before.text, after: after.text };
    },
  });
}

interface FileEdit {
  before: TextContent;
  after: TextContent;
  outcome: EditOutcome & { kind: "edited" };
}

function planFileEdit(workspace: Workspace, target: ApprovedTarget, request: EditRequest): FileEdit {
  if (!target.stats) throw missingFileError(workspace, target);
  const before = openForChange(workspace, target, target.stats);
  const outcome = planEdit(before.text, request);
  if (outcome.kind === "missing") throw missingTextError(target.path, before.text, request);
  if (outcome.kind === "ambiguous") throw ambiguousError(target.path, outcome);
  if (outcome.text === before.text) {
    throw new Error(`${target.path} has new_string in that place already; there is nothing to change.`);
  }
  return { before, after: { ...before, text: outcome.text }, outcome };
}

function describe(path: string, outcome: EditOutcome & { kind: "edited" }, diff: string): string {
  const { count, firstLine, isExact } = outcome;
  const what = count === 1 ? `line ${firstLine}` : `${count} replacements, the first in line ${firstLine}`;
  if (isExact) return `Edited ${path} (${what}).`;
  const changes = diff.split("\n").slice(2, 2 + MAX_SHOWN_DIFF_LINES);
  return [
    `Edited ${path} (${what}). old_string was not in the file exactly: white space, quotes, dashes or line ends differed.`,
    "Check that this is what you meant:",
    ...changes,
  ].join("\n");
}
