import { makeSideRequest } from "../../agent/side-request.ts";
import type { AgentLoopConfig, UpcomingRequest } from "../../agent/types.ts";
import { now } from "../../infrastructure/clock.ts";
import FLUSH_INSTRUCTION from "./flush-knowledge.md" with { type: "text" };

const TOOL = "add_knowledge";
// Enough for a dozen items.
const MAX_TOKENS = 2_048;

/**
 * Before a part of the conversation is summarised, the model may record what would be lost, with one request that is
 * neither kept nor shown. What it saves is told; that it failed is not, since nothing depends on it.
 */
export async function flushKnowledge(agentConfig: AgentLoopConfig, request: UpcomingRequest): Promise<void> {
  if (!agentConfig.tools.some(({ name }) => name === TOOL)) return;
  const { context, signal, emit, countUsage } = request;
  const asked = { role: "user" as const, content: FLUSH_INSTRUCTION.trim(), timestamp: now() };
  try {
    const calls = await makeSideRequest(agentConfig, {
      context: { ...context, messages: [...context.messages, asked] },
      toolName: TOOL,
      maxTokens: MAX_TOKENS,
      signal,
      countUsage: (usage, model) => countUsage(usage, model, "knowledge"),
    });
    for (const { input, metadata } of calls) {
      const { knowledgeId } = metadata;
      if (typeof knowledgeId !== "string") continue;
      emit({ type: "knowledge_saved", knowledgeId, content: String(input.content ?? "") });
    }
  } catch {
    // The compaction that follows does not depend on it, and a provider that is down will say so there.
  }
}
