import type { z } from "zod";
import type { GuardAppend } from "../knowledge/types.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { AddKnowledgeParameters } from "./parameters.ts";

/** The context that is recorded with an entry. */
export interface AddKnowledgeOptions {
  /**
   * The project root, real: files in it that the content names are recorded, so that later changes to them are
   * noticed.
   */
  root?: string | undefined;
  /** The session entry whose call is being run. */
  currentEntryId?: (() => string | undefined) | undefined;
  /**
   * Checks whether the file may be written, and records the trust in the result; without it, writing is always allowed.
   */
  guard?: GuardAppend | undefined;
}

/**
 * Saves a knowledge entry about the project for later sessions, in the directory `knowledgePath`. Duplicates are not
 * saved: the result then names the existing entry. It needs no approval: it only appends to diligent's own file, and
 * every entry is shown.
 */
export function createAddKnowledgeTool(
  knowledgePath: string,
  sessionId?: string,
  { root, currentEntryId, guard }: AddKnowledgeOptions = {},
): Tool {
  const tool: Tool<AddKnowledgeParameters> = {
    name: "add_knowledge",
    description:
      "Save a piece of knowledge that should persist across sessions. Use this for project patterns, user " +
      "preferences, important decisions, or corrections to previous behavior. Knowledge is injected into future " +
      "sessions automatically. Never save keys or passwords.",
    get parameters() {
      return loadParameters().addKnowledgeParameters;
    },
    inputSchema: INPUT_SCHEMAS.add_knowledge,
    changesFiles: true,
    approval: () => undefined,
    async execute(draft): Promise<ToolResult> {
      // Loaded with the first entry: most sessions do not record any.
      const { describeEntry, recordKnowledge } = await import("../knowledge/record.ts");
      const origin = { sessionId, entryId: currentEntryId?.(), root, guard };
      const outcome = await recordKnowledge(knowledgePath, toDraft(draft), origin);
      const { entry } = outcome;
      if (outcome.kind === "saved") {
        const { contradicted } = outcome;
        return {
          output: `Knowledge saved: [${entry.type}] ${entry.content}`,
          ...(contradicted && {
            note: `This may contradict ${describeEntry(contradicted)}\nThe user decides about both in /knowledge review.`,
          }),
          metadata: { knowledgeId: entry.id, knowledgeContent: entry.content },
        };
      }
      return {
        output:
          `Nothing was saved, because this is already known:\n${describeEntry(entry)}\n` +
          `To replace it, call again with supersedes: "${entry.id}".`,
        metadata: { knownAs: entry.id },
      };
    },
  };
  return tool;
}

function toDraft({ type, content, confidence, tags, supersedes }: z.output<AddKnowledgeParameters>) {
  return {
    type,
    content: content.toWellFormed(),
    confidence,
    ...(tags && { tags }),
    ...(supersedes !== undefined && { supersedes }),
  };
}
