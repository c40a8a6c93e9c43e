import { expect, test } from "bun:test";
import type { AgentEvent } from "../../src/agent/types.ts";
import { toKnowledgeEvent } from "../../src/session/run.ts";
import { createAddKnowledgeTool } from "../../src/tools/add-knowledge.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { runTool } from "../support/tool-workspace.ts";

function ended(fields: Partial<Extract<AgentEvent, { type: "tool_end" }>>): AgentEvent {
  const call = { itemId: "tool-1", toolCallId: "call_1", toolName: "add_knowledge" };
  return { type: "tool_end", ...call, output: "x", isError: false, ...fields };
}

test("a save is told with its id and content, what was known already is not", async () => {
  const tool = createAddKnowledgeTool(makeTempDir());
  const input = { type: "decision", content: "Two lines:\n[a] Knowledge saved: b." };
  const saved = await runTool(tool, input);
  expect(toKnowledgeEvent(ended(saved))).toEqual({
    type: "knowledge_saved",
    knowledgeId: String(saved.metadata?.knowledgeId),
    content: input.content,
  });
  expect(toKnowledgeEvent(ended(await runTool(tool, input)))).toBeUndefined();
});

test("nothing else is told", () => {
  const metadata = { knowledgeId: "a" };
  const events: AgentEvent[] = [
    ended({ metadata, isError: true }),
    ended({ metadata, toolName: "bash" }),
    ended({ metadata: { knowledgeId: 5 } }),
    ended({}),
    { type: "agent_start" },
  ];
  expect(events.map(toKnowledgeEvent)).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
