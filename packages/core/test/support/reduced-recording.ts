import { asRecord, asString } from "../../src/provider/wire-format.ts";

type Wire = Record<string, unknown>;

/**
 * What a recorded response adds up to, apart from the code that is tested: each block is put together from all of its
 * deltas at once and turned into ours afterwards.
 */
export function reduceRecording(events: readonly Wire[]): Wire {
  const start = asRecord(events[0]?.message);
  const end = asRecord(events.findLast(({ type }) => type === "message_delta"));
  const reason = asRecord(end.delta).stop_reason ?? start.stop_reason;
  const usage = { ...asRecord(start.usage), ...asRecord(end.usage) };
  const begun = Array.isArray(start.content) ? start.content.map(asRecord) : [];
  const streamed = events
    .filter(({ type }) => type === "content_block_start")
    .map((event) => wholeBlock(event, events));
  const searches = Number(asRecord(usage.server_tool_use).web_search_requests ?? 0);
  return {
    role: "assistant",
    content: [...begun, ...streamed].map(toOurs),
    usage: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens: usage.cache_read_input_tokens ?? 0,
      cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
      ...(searches > 0 && { webSearches: searches }),
    },
    stopReason: reason,
    rawStopReason: reason,
  };
}

function wholeBlock(start: Wire, events: readonly Wire[]): Wire {
  const deltas = events
    .filter(({ type, index }) => type === "content_block_delta" && index === start.index)
    .map(({ delta }) => asRecord(delta));
  const joined = (key: string) => deltas.map((delta) => asString(delta[key])).join("");
  const block = asRecord(structuredClone(start.content_block));
  if (block.type === "text") block.text = asString(block.text) + joined("text");
  if (joined("partial_json") !== "") block.input = JSON.parse(joined("partial_json"));
  const citations = deltas.flatMap(({ citation }) => (citation ? [citation] : []));
  if (citations.length > 0) block.citations = citations;
  return block;
}

function toOurs(block: Wire): Wire {
  const { type, text, citations, id, name, input, caller } = block;
  const replay = (data: Wire) => ({ replay: { provider: "anthropic", data } });
  if (type === "text") {
    return { type, text, ...(Array.isArray(citations) && citations.length > 0 && replay({ citations })) };
  }
  if (type !== "tool_use") return { type: "opaque", provider: "anthropic", raw: block };
  const isDirect = caller === undefined || asRecord(caller).type === "direct";
  return { type: "tool_call", id, name, input, ...(!isDirect && replay({ caller })) };
}
