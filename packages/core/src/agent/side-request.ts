import type { Model, RequestPurpose, StreamContext } from "../provider/types.ts";
import { executeToolCall } from "../tool/execute.ts";
import { createToolRegistry } from "../tool/registry.ts";
import { toolCallsOf, type Usage } from "../types.ts";
import type { AgentLoopConfig } from "./types.ts";

/** A request outside the conversation that is to be answered with calls of one tool. */
interface SideRequest {
  /** The run's next request, with the question appended. */
  context: StreamContext;
  /** Calls of other tools are not run. */
  toolName: string;
  purpose: RequestPurpose;
  maxTokens: number;
  signal: AbortSignal;
  /** Called once when the model has answered; a failed request is not counted. */
  countUsage(usage: Usage, model: Model): void;
}

/** A call of a side request that was run. */
interface SideCall {
  input: Record<string, unknown>;
  metadata: Record<string, unknown>;
}

/**
 * Makes one request outside the conversation, without retries; nothing from it is recorded or shown. Returns the calls
 * of `toolName` that succeeded.
 * @throws ProviderError when there was no answer.
 */
export async function makeSideRequest(
  { model, streamFunction, tools }: AgentLoopConfig,
  { context, toolName, purpose, maxTokens, signal, countUsage }: SideRequest,
): Promise<SideCall[]> {
  const options = { signal, maxTokens, maxRetries: 0, purpose };
  const { message } = await streamFunction(model, context, options).result();
  countUsage(message.usage, model);
  const registry = createToolRegistry(tools.filter(({ name }) => name === toolName));
  const done: SideCall[] = [];
  for (const call of toolCallsOf(message).filter(({ name }) => name === toolName)) {
    if (signal.aborted) return done;
    // The user is not asked during a side request: a call that needs approval is not run.
    const decide = async () => ({ response: "reject" as const });
    const { message: result, metadata = {} } = await executeToolCall(call, registry, { signal, decide });
    if (!result.isError) done.push({ input: call.input, metadata });
  }
  return done;
}
