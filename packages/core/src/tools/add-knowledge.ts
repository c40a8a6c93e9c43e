import type { z } from "zod";
import type { Tool, ToolResult } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { AddKnowledgeParameters } from "./parameters.ts";

/** What is noted beside a piece of knowledge. */
export interface AddKnowledgeOptions {
  /** The project root, real: files of it that the content names are noted, so that it can be told when they change. */
  root?: string | undefined;
  /** The session entry whose call is being carried out. */
  currentEntryId?: (() => string | undefined) | undefined;
}

/**
 * Saves a piece of knowledge about the project for later sessions, in the directory `knowledgePath`. What is known
 * already is not saved twice: the result then names the entry. It asks nobody: it only appends to a file of our own,
 * and every save is shown.
 */
export function createAddKnowledgeTool(
  knowledgePath: string,
  sessionId?: string,
  { root, currentEntryId }: AddKnowledgeOptions = {},
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
      // Loaded with the first piece of knowledge: most sessions begin without any.
      const { describeEntry, recordKnowledge } = await import("../knowledge/record-knowledge.ts");
      const origin = { sessionId, entryId: currentEntryId?.(), root };
      const { kind, entry } = await recordKnowledge(knowledgePath, toDraft(draft), origin);
      if (kind === "saved") {
        return {
          output: `Knowledge saved: [${entry.type}] ${entry.content}`,
          metadata: { knowledgeId: entry.id },
        };
      }
      return {
        output:
          `Nothing was saved, since this is known already:\n${describeEntry(entry)}\n` +
          `To put this in its place, call again with supersedes: "${entry.id}".`,
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
