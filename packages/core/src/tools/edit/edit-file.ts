import { isNotebookName } from "../../infrastructure/text/notebook.ts";
import type { TextContent } from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import { readUnsaved, type UnsavedText } from "../editor-files.ts";
import { missingFileError } from "../missing-file.ts";
import type { EditArguments } from "../parameters.ts";
import { type ApprovedTarget, displayPath } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { missingTextError } from "./missing-text.ts";
import { namesCells, planCellEdit, toCellText } from "./notebook-cells.ts";
import { planNotebookEdit, showSources, toSourceText } from "./notebook-edit.ts";
import { type EditOutcome, type EditRequest, planEdit } from "./plan-edit.ts";
import { restoreChange } from "./restore-secrets.ts";
import { createUnifiedDiff } from "./unified-diff.ts";
import {
  assertWholeCharacters,
  changedError,
  changeTarget,
  NEVER,
  openSeenFile,
  previewChange,
  type TargetLocation,
} from "./write-file.ts";

// Enough to see whether a loose match was the intended one.
const MAX_SHOWN_DIFF_LINES = 24;

// Each edit searches the whole file.
const MAX_EDITS = 200;

/** The replacements of a call, in order. @throws Error for arguments that change nothing or cannot be written. */
export function toEditRequests({
  edits = [],
  old_string,
  new_string,
  replace_all,
}: EditArguments): EditRequest[] {
  if (edits.length === 0) {
    if (old_string === undefined || new_string === undefined)
      throw new Error("Give old_string and new_string, or edits: a list of {old_string, new_string}.");
    return [toEditRequest({ old_string, new_string, replace_all })];
  }
  // Some models send empty strings for what they leave out.
  if (old_string || new_string)
    throw new Error("Give either old_string and new_string or edits, not both: nothing was changed.");
  if (edits.length > MAX_EDITS)
    throw new Error(`edits has ${edits.length} entries, the most are ${MAX_EDITS}: nothing was changed.`);
  return edits.map((edit, index) => withPosition(index, edits.length, () => toEditRequest(edit)));
}

type Replacement = NonNullable<EditArguments["edits"]>[number];

function toEditRequest({ old_string, new_string, replace_all }: Replacement): EditRequest {
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

/** Names the edit in its error, if there are several. */
function withPosition<T>(index: number, count: number, action: () => T): T {
  if (count === 1) return action();
  try {
    return action();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`edits[${index}] failed, so none of the ${count} edits was applied: ${reason}`);
  }
}

/**
 * Applies edits to one file, each to the result of those before it, all or none. @throws Error that says why it failed;
 * the file is unchanged then.
 */
export async function editFile(
  workspace: Workspace,
  location: TargetLocation,
  requests: readonly EditRequest[],
): Promise<ToolResult> {
  const edited = await changeTarget(workspace, location, (located, unsaved) => {
    const planned = planFileEdit(workspace, { target: located, unsaved }, requests);
    const last = workspace.files.lastContent(located.realPath);
    const seen = last && workspace.files.decode(located.realPath, last).text;
    return { target: located, seen, ...planned };
  });
  const { target, before, after, outcomes, hasChanged, seen, saved } = edited;
  const shownPath = displayPath(workspace, target.path);
  const { diff, added, removed, firstLine } = await createUnifiedDiff(shownPath, before.text, after.text);
  const [first] = outcomes;
  const metadata = {
    ...{ diff, added, removed, firstLine, matchLine: first?.firstLine },
    ...(outcomes.length > 1 && { matchLines: outcomes.map((outcome) => outcome.firstLine).join(" ") }),
  };
  const others = hasChanged ? await describeOtherChanges(shownPath, seen, before.text) : "";
  return { output: describe(target.path, outcomes, diff) + others + saved, metadata };
}

/** For the model: what was changed by others since it saw the file. */
async function describeOtherChanges(
  shownPath: string,
  seen: string | undefined,
  now: string,
): Promise<string> {
  const lead = "\nThe file had changed since it was read; old_string was not affected.";
  const { diff } = await createUnifiedDiff(shownPath, seen ?? now, now);
  const lines = diff.split("\n").slice(2);
  if (lines.length === 0) return `${lead} Read it again before you rely on its other parts.`;
  const shown = lines.slice(0, MAX_SHOWN_DIFF_LINES);
  const more =
    lines.length > shown.length ? [`… ${lines.length - shown.length} more lines; read it again.`] : [];
  return [`${lead} These were the changes:`, ...shown, ...more].join("\n");
}

/** See `previewChange`. */
export async function previewEdit(
  workspace: Workspace,
  target: ApprovedTarget,
  requests: readonly EditRequest[],
): Promise<string | undefined> {
  const unsaved = await readUnsaved(workspace, target, NEVER);
  return previewChange(workspace, {
    path: target.path,
    sizes: [target.stats?.size ?? 0],
    plan() {
      const { before, after } = planFileEdit(workspace, { target, unsaved }, requests);
      return { before: before.text, after: after.text };
    },
  });
}

type Edited = EditOutcome & { kind: "edited" };

interface FileEdit {
  before: TextContent;
  after: TextContent;
  /** As many as there were requests. Their lines are those of the text at that time. */
  outcomes: Edited[];
  /** True if the file is not as the session saw it last. */
  hasChanged: boolean;
}

function planFileEdit(
  workspace: Workspace,
  { target, unsaved }: { target: ApprovedTarget; unsaved: UnsavedText | undefined },
  requests: readonly EditRequest[],
): FileEdit {
  if (!target.stats) throw missingFileError(workspace, target);
  const { content: before, hasChanged } = openSeenFile(workspace, target, target.stats, unsaved);
  let text = before.text;
  const outcomes = requests.map((request, index) =>
    withPosition(index, requests.length, () => {
      const outcome = planReplacement(workspace, { path: target.path, text, hasChanged }, request);
      text = outcome.text;
      return outcome;
    }),
  );
  if (text === before.text)
    throw new Error(`Together the edits leave ${target.path} as it is; there is nothing to change.`);
  return { before, after: { ...before, text }, outcomes, hasChanged };
}

function planReplacement(
  workspace: Workspace,
  { path, text, hasChanged }: { path: string; text: string; hasChanged: boolean },
  masked: EditRequest,
): Edited {
  const names = { oldText: "old_string", newText: "new_string" };
  const request = restoreChange(workspace, { path, before: text }, { texts: masked, names });
  const isOfCells = isNotebookName(path) && namesCells(request);
  const toShown = isOfCells ? toCellText : toSourceText;
  const planShown = isOfCells ? planCellEdit : planNotebookEdit;
  const sources = isNotebookName(path) ? toShown(text) : undefined;
  const outcome = sources === undefined ? planEdit(text, request) : planShown(text, sources, request);
  const isUnaffected = outcome.kind === "edited" && outcome.isExact && outcome.count === 1;
  if (hasChanged && !(isUnaffected && !request.replaceAll)) throw changedError(path);
  if (outcome.kind === "missing")
    throw missingTextError(path, sources === undefined ? text : showSources(sources), request);
  if (outcome.kind === "ambiguous") throw ambiguousError(path, outcome);
  if (outcome.text === text)
    throw new Error(`${path} already has new_string in that place; there is nothing to change.`);
  return outcome;
}

function describe(path: string, outcomes: readonly Edited[], diff: string): string {
  const edited = `Edited ${path} (${describePlaces(outcomes)}).`;
  if (outcomes.every(({ isExact }) => isExact)) return edited;
  const which = outcomes.flatMap(({ isExact }, index) => (isExact ? [] : [`edits[${index}].old_string`]));
  const changes = diff.split("\n").slice(2, 2 + MAX_SHOWN_DIFF_LINES);
  return [
    `${edited} ${outcomes.length === 1 ? "old_string" : which.join(", ")} was not in the file exactly: white space, quotes, dashes or line ends differed.`,
    "Check that this is what you meant:",
    ...changes,
  ].join("\n");
}

function describePlaces(outcomes: readonly Edited[]): string {
  const [first] = outcomes;
  const count = outcomes.reduce((sum, outcome) => sum + outcome.count, 0);
  if (count === 1) return `line ${first?.firstLine}`;
  if (outcomes.length === 1) return `${count} replacements, the first in line ${first?.firstLine}`;
  const lines = outcomes.map(({ firstLine }) => firstLine).join(", ");
  return `${outcomes.length} edits, ${count} replacements, in lines ${lines}`;
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
