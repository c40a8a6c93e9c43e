import { now } from "../../infrastructure/runtime.ts";
import { createProviderStream, type StreamContext, type StreamFunction } from "../../provider/types.ts";
import { type AssistantMessage, EMPTY_USAGE, promptText, type ToolCallBlock } from "../../types.ts";
import type { SessionAgents } from "./session-agents.ts";

const TOOL = "task";
const MAX_TITLE_CHARS = 200;

/**
 * Answers a request whose prompt is assigned to sub-agents by the calls that give them their tasks: no request is made,
 * and everything else happens as if the model had made these calls.
 */
export function withAssignedPrompts(stream: StreamFunction, agents: SessionAgents): StreamFunction {
  return (model, context, options) => {
    const isOffered = context.tools.some(({ name }) => name === TOOL);
    const assignment = isOffered ? agents.findAssignment(lastPrompt(context)) : undefined;
    if (assignment === undefined) return stream(model, context, options);
    const calls = Array.from(assignment.tasks, ([id, { definition, prompt, shownPrompt, title }]) => {
      const input = {
        description: title.slice(0, MAX_TITLE_CHARS),
        prompt: shownPrompt ?? prompt,
        agent: definition.name,
        background: false,
      };
      return { type: "tool_call" as const, id, name: TOOL, input };
    });
    return answerWith(calls, model.id);
  };
}

/** The text of the last message if it is the user's. */
function lastPrompt({ messages }: StreamContext): string {
  const last = messages.at(-1);
  return last?.role === "user" ? promptText(last) : "";
}

function answerWith(calls: ToolCallBlock[], model: string): ReturnType<StreamFunction> {
  const stream = createProviderStream();
  const message: AssistantMessage = {
    role: "assistant",
    content: calls,
    model,
    usage: EMPTY_USAGE,
    stopReason: "tool_use",
    timestamp: now(),
  };
  stream.push({ type: "start" });
  for (const { id, name, input } of calls) {
    stream.push({ type: "tool_call_start", id, name });
    stream.push({ type: "tool_call_end", id, name, input });
  }
  stream.push({ type: "done", stopReason: "tool_use", message });
  return stream;
}
