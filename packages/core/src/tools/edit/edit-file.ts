import { decodeUtf8, type TextContent } from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import { missingFileError } from "../missing-file.ts";
import type { EditArguments } from "../parameters.ts";
import { type ApprovedTarget, displayPath } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { missingTextError } from "./missing-text.ts";
import { type EditOutcome, type EditRequest, planEdit } from "./plan-edit.ts";
import { createUnifiedDiff } from "./unified-diff.ts";
import {
  assertNoPlaceholders,
  assertWholeCharacters,
  changedError,
  changeTarget,
  openSeenFile,
  previewChange,
  saveChange,
  type TargetLocation,
} from "./write-file.ts";

// Enough to see whether a loose match was the intended one.
const MAX_SHOWN_DIFF_LINES = 24;

/** @throws Error for arguments that change nothing or cannot be written. */
export function toEditRequest({ old_string, new_string, replace_all }: EditArguments): EditRequest {
  assertWholeCharacters("old_string", old_string);
  assertWholeCharacters("new_string", new_string);
  // The byte order mark, which the read tool leaves out.
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

/** Applies an edit. @throws Error that says why it failed; the file is unchanged then. */
export async function editFile(
  workspace: Workspace,
  location: TargetLocation,
  request: EditRequest,
): Promise<ToolResult> {
  const { target, before, after, outcome, hasChanged, seen } = await changeTarget(location, (located) => {
    const planned = planFileEdit(workspace, located, request);
    const seen = workspace.files.lastContent(located.realPath);
    saveChange(workspace, located, planned.after);
    return { target: located, seen, ...planned };
  });
  const shownPath = displayPath(workspace, target.path);
  const { diff, added, removed, firstLine } = await createUnifiedDiff(shownPath, before.text, after.text);
  const metadata = { diff, added, removed, firstLine, matchLine: outcome.firstLine };
  const others = hasChanged ? await describeOtherChanges(shownPath, seen, before.text) : "";
  return { output: describe(target.path, outcome, diff) + others, metadata };
}

/** For the model: what was changed by others since it saw the file. */
async function describeOtherChanges(
  shownPath: string,
  seen: Uint8Array | undefined,
  now: string,
): Promise<string> {
  const lead = "\nThe file had changed since it was read; old_string was not affected.";
  const { diff } = await createUnifiedDiff(shownPath, seen ? decodeUtf8(seen).text : now, now);
  const lines = diff.split("\n").slice(2);
  if (lines.length === 0) return `${lead} Read it again before you rely on its other parts.`;
  const shown = lines.slice(0, MAX_SHOWN_DIFF_LINES);
  const more =
    lines.length > shown.length ? [`… ${lines.length - shown.length} more lines; read it again.`] : [];
  return [`${lead} These were the changes:`, ...shown, ...more].join("\n");
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
  /** True if the file is not as the session saw it last. */
  hasChanged: boolean;
}

function planFileEdit(workspace: Workspace, target: ApprovedTarget, request: EditRequest): FileEdit {
  if (!target.stats) throw missingFileError(workspace, target);
  const { content: before, hasChanged } = openSeenFile(workspace, target, target.stats);
  const texts = { old_string: request.oldText, new_string: request.newText };
  assertNoPlaceholders(workspace, { path: target.path, before: before.text, texts });
  const outcome = planEdit(before.text, request);
  const isUnaffected = outcome.kind === "edited" && outcome.isExact && outcome.count === 1;
  if (hasChanged && !(isUnaffected && !request.replaceAll)) throw changedError(target.path);
  if (outcome.kind === "missing") throw missingTextError(target.path, before.text, request);
  if (outcome.kind === "ambiguous") throw ambiguousError(target.path, outcome);
  if (outcome.text === before.text) {
    throw new Error(`${target.path} already has new_string in that place; there is nothing to change.`);
  }
  return { before, after: { ...before, text: outcome.text }, outcome, hasChanged };
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

/** For the model; `path` is absolute. */
function ambiguousError(path: string, { count, lines, isExact }: EditOutcome & { kind: "ambiguous" }): Error {
  const more = count > lines.length ? ", …" : "";
  const shownLines = `lines ${lines.join(", ")}${more}`;
  if (isExact) {
    return new Error(
      `old_string occurs ${count} times in ${path} (${shownLines}). Add lines around it until it occurs once, or set replace_all.`,
    );
  }
  return new Error(
    `old_string is not in ${path} exactly, and ${count} places differ from it only in white space or quotes (${shownLines}). ` +
      "Give the text exactly as the file has it, with lines around it until it occurs once.",
  );
}
