import { createAnthropicStream } from "../../../../core/src/provider/anthropic.ts";
import { createCompatibleStream } from "../../../../core/src/provider/compatible.ts";
import { createOpenAIStream } from "../../../../core/src/provider/openai.ts";
import type { StreamFunction } from "../../../../core/src/provider/types.ts";
import type { AssistantMessage } from "../../../../core/src/types.ts";
import { user } from "../../../../core/test/support/agent-run.ts";
import { READ_TOOL } from "../../../../core/test/support/models.ts";
import { type Reply, startSseServer } from "../../../../core/test/support/sse-server.ts";
import { modelOf } from "../histories/vendors.ts";

/** What a request has come to. */
export interface StreamEnd {
  /** How many events said that it was over. */
  ends: number;
  /** Without its time. */
  message?: AssistantMessage;
  error?: unknown;
}

/** Whose adapter reads the stream; `local` is a compatible server. */
export type ServiceName = "anthropic" | "openai" | "local";

/** The adapter of each service, for a server at an address. */
export const CONNECT: Record<ServiceName, (url: string) => StreamFunction> = {
  anthropic: (url) => createAnthropicStream("key", url),
  openai: (url) => createOpenAIStream("key", `${url}/v1`),
  local: (url) => createCompatibleStream("local", { baseUrl: url }),
};

/** Asks a server on loopback that answers with this reply, through the adapter of the service. */
export async function askWith(service: ServiceName, reply: Reply): Promise<StreamEnd> {
  await using server = await startSseServer(reply);
  const context = { systemPrompt: "s", messages: [user("go")], tools: [READ_TOOL] };
  const stream = CONNECT[service](server.url)(modelOf(service, 200_000), context, {});
  let ends = 0;
  for await (const { type } of stream) if (type === "done" || type === "error") ends++;
  try {
    const { message } = await stream.result();
    return { ends, message: { ...message, timestamp: 0 } };
  } catch (error) {
    return { ends, error };
  }
}
