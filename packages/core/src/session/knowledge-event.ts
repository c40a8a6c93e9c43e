import type { AgentEvent } from "../agent/types.ts";

const SAVED = /^Knowledge saved: \[[a-z]+\] /;

/** What observers are told after the end of a call that has saved a piece of knowledge; undefined for any other event. */
export function toKnowledgeEvent(event: AgentEvent): AgentEvent | undefined {
  if (event.type !== "tool_end" || event.toolName !== "add_knowledge" || event.isError) return undefined;
  const knowledgeId = event.metadata?.knowledgeId;
  if (typeof knowledgeId !== "string") return undefined;
  return { type: "knowledge_saved", knowledgeId, content: event.output.replace(SAVED, "") };
}
