import { ProviderError } from "../../provider/types.ts";

/** What the sentences name: tokens, and the id of the model. */
interface Overflow {
  /** About so many are needed. */
  tokens: number;
  contextWindow: number;
  modelId: string;
}

/** What says that system prompt and tools leave no room for work. */
export function fixedPartOverflow({ tokens, contextWindow, modelId }: Overflow): ProviderError {
  return new ProviderError(
    `System prompt, instructions, knowledge and tools take about ${tokens} tokens, more than half of the window of ` +
      `${contextWindow} tokens of ${modelId}. Shorten the instructions, or choose a model with a larger window.`,
    "context_overflow",
  );
}

/**
 * What says that a conversation cannot be shortened any further.
 * @param areUsedUp see `CompactionAttempts`.
 * @param refusal what the provider said of the request, where it has refused it.
 */
export function conversationOverflow({
  tokens,
  contextWindow,
  modelId,
  areUsedUp,
  refusal,
}: Overflow & { areUsedUp: boolean; refusal: ProviderError | undefined }): ProviderError {
  const said = refusal ? ` The provider said: ${refusal.message}` : "";
  const why = areUsedUp ? "several summaries in a row have made no room" : "nothing more can be summarised";
  return new ProviderError(
    `The conversation does not fit into the context window of ${modelId}: about ${tokens} of ` +
      `${contextWindow} tokens, and ${why}.${said}`,
    "context_overflow",
  );
}
