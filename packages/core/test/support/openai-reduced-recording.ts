import { asRecord, asString } from "../../src/provider/wire-format.ts";

type Wire = Record<string, unknown>;

/**
 * What a recorded response adds up to, apart from the code that is tested: the API repeats the whole output in its last
 * event, and nothing but that is read here. Only reasoning is encrypted anew each time: what counts is the item as it was
 * done, where that was told.
 */
export function reduceOpenAIRecording(events: readonly Wire[]): Wire {
  const response = asRecord(events.at(-1)?.response);
  const done = events
    .filter(({ type }) => type === "response.output_item.done")
    .map(({ item }) => asRecord(item));
  const output = recordsOf(response.output).map((item) =>
    item.type === "reasoning" ? (done.find(({ id }) => id === item.id) ?? item) : item,
  );
  const usage = asRecord(response.usage);
  const cached = Number(asRecord(usage.input_tokens_details).cached_tokens);
  const firstReasoning = output.findIndex(({ type }) => type === "reasoning");
  const searches = output.filter(
    ({ type, action }) => type === "web_search_call" && asRecord(action).type === "search",
  ).length;
  return {
    role: "assistant",
    content: output.flatMap((item, index) => toOurs(item, firstReasoning >= 0 && index > firstReasoning)),
    usage: {
      inputTokens: Number(usage.input_tokens) - cached,
      outputTokens: usage.output_tokens,
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
      ...(searches > 0 && { webSearches: searches }),
    },
    stopReason: output.some(({ type }) => type === "function_call") ? "tool_use" : "end_turn",
    rawStopReason: response.status,
  };
}

function toOurs(item: Wire, followsReasoning: boolean): Wire[] {
  const { type, id, status, name, call_id, content, summary } = item;
  if (type === "message") {
    const texts = recordsOf(content).filter(({ text }) => text !== "");
    return texts.map((part) => toText(item, part, followsReasoning));
  }
  if (type === "reasoning") {
    const thinking = recordsOf(summary).map(({ text }) => asString(text));
    return [
      { type: "thinking", thinking: thinking.join("\n\n"), replay: { provider: "openai", data: item } },
    ];
  }
  if (type !== "function_call") return [{ type: "opaque", provider: "openai", raw: item }];
  const replay = followsReasoning && { replay: { provider: "openai", data: { id, status } } };
  return [{ type: "tool_call", id: call_id, name, input: JSON.parse(asString(item.arguments)), ...replay }];
}

function toText({ type: _, role, content, ...message }: Wire, part: Wire, followsReasoning: boolean): Wire {
  const { text, ...rest } = part;
  const isCited = Array.isArray(part.annotations) && part.annotations.length > 0;
  const replay = { replay: { provider: "openai", data: { message, part: rest } } };
  return { type: "text", text, ...((followsReasoning || isCited) && replay) };
}

function recordsOf(list: unknown): Wire[] {
  return Array.isArray(list) ? list.map(asRecord) : [];
}
