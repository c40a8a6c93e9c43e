import type { Reply } from "./sse-server.ts";

/**
 * Chunks of Chat Completions answers as servers stream them. Written by hand from the types of `openai`
 * (`ChatCompletionChunk`) and from what Ollama, llama.cpp, vLLM and gateways are known to send.
 */
type Wire = Record<string, unknown>;

export function chunk(delta: Wire, fields: Wire = {}): Wire {
  return frame([{ index: 0, delta, finish_reason: null, ...fields }]);
}

export function textChunk(content: string): Wire {
  return chunk({ content });
}

export function callChunk(...toolCalls: unknown[]): Wire {
  return chunk({ tool_calls: toolCalls });
}

/** An entry of `tool_calls`; what is undefined is left out. */
export function callEntry(
  args: unknown,
  fields: { index?: number | undefined; id?: string; name?: string } = {},
): Wire {
  const { index, id, name } = fields;
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id, type: "function" }),
    function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
  };
}

export function finishChunk(reason: string | null, fields: Wire = {}): Wire {
  return { ...frame([{ index: 0, delta: {}, finish_reason: reason }]), ...fields };
}

export function usageChunk(
  usage: Wire = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
): Wire {
  return { ...frame([]), usage };
}

function frame(choices: unknown[]): Wire {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

/** The whole of an answer that is only text, in two pieces. */
export function textAnswer(answer: string): Wire[] {
  const middle = Math.ceil(answer.length / 2);
  return [
    chunk({ role: "assistant", content: "" }),
    textChunk(answer.slice(0, middle)),
    textChunk(answer.slice(middle)),
    finishChunk("stop"),
    usageChunk(),
  ];
}

/** The chunks as a server sends them, with `[DONE]` at the end. */
export function toBody(chunks: readonly unknown[], end = "data: [DONE]\n\n"): string {
  return chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("") + end;
}

export function answerReply(chunks: readonly unknown[], fields: Reply = {}): Reply {
  return { body: toBody(chunks), ...fields };
}

export function jsonReply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
