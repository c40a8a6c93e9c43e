import type { z } from "zod";
import type { Tool, ToolResult } from "../tool/types.ts";
import type { ToolCallBlock } from "../types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { RecallParameters } from "./parameters.ts";

/** A complete message of the session. */
interface RecallableEntry {
  id: string;
  /** ISO 8601. */
  timestamp: string;
  role: "user" | "assistant" | "tool_result";
  call?: ToolCallBlock | undefined;
  text: string;
}

/** The messages of a session that are no longer in its context. */
export interface RecallSource {
  /** True once there is such a message. */
  hasHiddenEntries(): boolean;
  /** Newest first; `isComplete` is false if there are more than `limit`. */
  search(query: {
    query?: string | undefined;
    tool?: string | undefined;
    path?: string | undefined;
    limit?: number | undefined;
  }): Promise<{ matches: RecallableEntry[]; isComplete: boolean }>;
  /** The entry whose id is `id` or starts with it, whether it is in the context or not. */
  read(id: string): Promise<RecallableEntry | undefined>;
}

const EXCERPT_CHARACTERS = 200;
const ARGUMENT_CHARACTERS = 120;

/**
 * Searches and reads messages that were pruned or summarized in this session. It is offered to the model once there are
 * such messages; nothing leaves the session, so it needs no approval.
 */
export function createRecallTool(source: RecallSource): Tool {
  const tool: Tool<RecallParameters> = {
    name: "recall",
    description:
      "Search or read messages of this session that were summarized or shortened: by words, tool or path, or one " +
      "whole by its entry id.",
    get parameters() {
      return loadParameters().recallParameters;
    },
    inputSchema: INPUT_SCHEMAS.recall,
    readOnly: true,
    isOffered: () => source.hasHiddenEntries(),
    approval: () => undefined,
    async execute({ query, tool: toolName, path, entry, limit }): Promise<ToolResult> {
      const id = given(entry);
      if (id !== undefined) return read(source, id);
      return search(source, { query: given(query), tool: given(toolName), path: given(path), limit });
    },
  };
  return tool;
}

/** Models fill arguments that they do not need with empty strings. */
function given(argument: string | undefined): string | undefined {
  return argument?.trim() || undefined;
}

async function read(source: RecallSource, id: string): Promise<ToolResult> {
  const entry = await source.read(id);
  if (!entry) {
    return {
      output: `This session has no message with the entry id "${id}". Search with query, tool or path for its id.`,
      isError: true,
    };
  }
  return { output: `${headOf(entry)}\n${entry.text}` };
}

async function search(source: RecallSource, args: z.output<RecallParameters>): Promise<ToolResult> {
  const { matches, isComplete } = await source.search(args);
  if (matches.length === 0) return { output: "No message outside the context matches." };
  const lines = matches.map((entry) => `${headOf(entry)}\n  ${excerpt(entry.text, args.query)}`);
  return {
    output: lines.join("\n"),
    note: `${isComplete ? "" : `These are the newest ${matches.length}; there are more. `}Read one whole with its entry id.`,
  };
}

function headOf({ id, timestamp, role, call, text }: RecallableEntry): string {
  const kind = call ? `result of ${call.name} ${cut(JSON.stringify(call.input), ARGUMENT_CHARACTERS)}` : role;
  return `[${id}] ${timestamp} ${kind} (${text.length} characters)`;
}

/** The part of a text around the first word of the query, on one line. */
function excerpt(text: string, query = ""): string {
  const [word = ""] = query.toLowerCase().split(/\s+/).filter(Boolean);
  const at = word === "" ? 0 : Math.max(0, text.toLowerCase().indexOf(word));
  const start = Math.max(0, at - EXCERPT_CHARACTERS / 4);
  const part = text.slice(start, start + EXCERPT_CHARACTERS).toWellFormed();
  const isCut = start + EXCERPT_CHARACTERS < text.length;
  return `${start > 0 ? "…" : ""}${part.replace(/\s+/g, " ").trim()}${isCut ? "…" : ""}`;
}

function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters).toWellFormed()}…` : text;
}
