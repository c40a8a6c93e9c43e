import type { Model, StreamContext } from "../provider/types.ts";
import { executeToolCall } from "../tool/execute.ts";
import { createToolRegistry } from "../tool/registry.ts";
import type { Usage } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import type { AgentLoopConfig } from "./types.ts";

/** A request beside the conversation that is to be answered with calls of one tool. */
export interface SideRequest {
  /** As the next request of the run would be, with what is asked for behind it. */
  context: StreamContext;
  /** Calls of other tools are not run. */
  toolName: string;
  maxTokens: number;
  signal: AbortSignal;
  /** Called once when the model has answered; a request that failed is not counted. */
  countUsage(usage: Usage, model: Model): void;
}

/** A call of a side request that was run. */
export interface SideCall {
  input: Record<string, unknown>;
  metadata: Record<string, unknown>;
}

/**
 * One request beside the conversation, made once: nothing of it is kept or shown. Returns the calls of `toolName` that succeeded.
 * @throws ProviderError when there was no answer.
 */
export async function makeSideRequest(
  { model, streamFunction, tools }: AgentLoopConfig,
  { context, toolName, maxTokens, signal, countUsage }: SideRequest,
): Promise<SideCall[]> {
  const options = { signal, maxTokens, maxRetries: 0 };
  const { message } = await streamFunction(model, context, options).result();
  countUsage(message.usage, model);
  const registry = createToolRegistry(tools.filter(({ name }) => name === toolName));
  const done: SideCall[] = [];
  for (const call of toolCallsOf(message).filter(({ name }) => name === toolName)) {
    if (signal.aborted) return done;
    // Nobody is asked beside the conversation: what would need it is not done.
    const decide = async () => ({ response: "reject" as const });
    const { message: result, metadata = {} } = await executeToolCall(call, registry, { signal, decide });
    if (!result.isError) done.push({ input: call.input, metadata });
  }
  return done;
}
