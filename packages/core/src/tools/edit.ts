import { z } from "zod";
import type { Tool, ToolResult } from "../tool/types.ts";
import type { EditOutcome, EditRequest } from "./edit/edit-plan.ts";
import { type ApprovedTarget, createTargetGate } from "./target/approved-target.ts";
import { displayPath } from "./target/display-path.ts";
import { missingFileError } from "./target/missing-file.ts";
import { assertWholeCharacters, openForChange, saveChange } from "./target/open-for-change.ts";
import type { Workspace } from "./workspace.ts";

// Enough to see whether a loose match hit what was meant.
const MAX_SHOWN_DIFF_LINES = 24;

const parameters = z.strictObject({
  file_path: z.string(),
  old_string: z.string().describe("Text as it is in the file, without line numbers"),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

/** Replaces a piece of text in a file that the session has read. Every byte outside of it stays, line ends included. */
export function createEditTool(workspace: Workspace): Tool<typeof parameters> {
  const gate = createTargetGate(workspace, { toolName: "edit", permission: "write" });
  return {
    name: "edit",
    description:
      "Replace old_string by new_string in a file that was read in this session. old_string must occur exactly once " +
      "(give enough lines around it), unless replace_all is true.",
    parameters,
    changesFiles: true,
    approval: gate.approval,
    async execute(args, { signal }) {
      assertWholeCharacters("old_string", args.old_string);
      assertWholeCharacters("new_string", args.new_string);
      const request = {
        oldText: args.old_string.replace(/^\ufeff/, ""),
        newText: args.new_string,
        replaceAll: args.replace_all ?? false,
      };
      assertChanges(request);
      const target = gate.locate(args);
      signal.throwIfAborted();
      return edit(workspace, target, request);
    },
  };
}

function assertChanges({ oldText, newText }: EditRequest): void {
  if (oldText === "") {
    throw new Error(
      "old_string is empty. Give the text to replace; to make a file or replace all of it, use write.",
    );
  }
  if (oldText === newText)
    throw new Error("old_string and new_string are the same, so there is nothing to change.");
}

async function edit(workspace: Workspace, target: ApprovedTarget, request: EditRequest): Promise<ToolResult> {
  if (!target.stats) throw missingFileError(workspace, target.path);
  // Loaded with the first edit: none of it is needed to tell a model that there is such a tool.
  const { planEdit } = await import("./edit/edit-plan.ts");
  const before = openForChange(workspace, target, target.stats);
  const outcome = planEdit(before.text, request);
  if (outcome.kind !== "edited") {
    const { ambiguousError, missingTextError } = await import("./edit/edit-errors.ts");
    if (outcome.kind === "missing") throw missingTextError(target.path, before.text, request);
    throw ambiguousError(target.path, outcome);
  }
  if (outcome.text === before.text) {
    throw new Error(`${target.path} has new_string in that place already; there is nothing to change.`);
  }
  saveChange(workspace, target, { ...before, text: outcome.text });
  const { createUnifiedDiff } = await import("./edit/unified-diff.ts");
  const { diff, added, removed, firstLine } = await createUnifiedDiff(
    displayPath(workspace, target.path),
    before.text,
    outcome.text,
  );
  return { output: describe(target.path, outcome, diff), metadata: { diff, added, removed, firstLine } };
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
