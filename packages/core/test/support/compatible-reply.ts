import {
  ANSWER_END,
  applyCompatibleEvent,
  createCompatibleAnswer,
  toCompatibleMessage,
} from "../../src/provider/chat-completions/response.ts";
import type { ProviderEvent } from "../../src/provider/types.ts";
import type { AssistantMessage } from "../../src/types.ts";

/** What chunks mean, without a connection: all of an answer, unless `isAborted`. */
export function applyChunks(
  chunks: readonly unknown[],
  { callIds = [], isAborted = false }: { callIds?: string[]; isAborted?: boolean } = {},
): { events: ProviderEvent[]; message: AssistantMessage } {
  const answer = createCompatibleAnswer(callIds);
  const steps = isAborted ? chunks : [...chunks, ANSWER_END];
  const events = steps.flatMap((step) => applyCompatibleEvent(answer, step));
  return {
    events,
    message: toCompatibleMessage(answer, { model: "local/m", provider: "local", timestamp: 7 }),
  };
}
