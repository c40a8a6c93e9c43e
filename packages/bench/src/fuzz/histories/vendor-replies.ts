import { createProviderStream } from "../../../../core/src/provider/provider-stream.ts";
import type { StreamFunction } from "../../../../core/src/provider/types.ts";
import type { AssistantMessage, ContentBlock } from "../../../../core/src/types.ts";
import { isVendorName, type VendorName } from "./vendors.ts";

type Dress = (block: ContentBlock, number: number) => ContentBlock[];

/** Lets the answers of a played model carry what those of the asked model's service carry beside their words. */
export function withVendorBlocks(played: StreamFunction): StreamFunction {
  let replies = 0;
  return (model, context, options) => {
    const stream = createProviderStream();
    const dress = DRESSES[isVendorName(model.provider) ? model.provider : "scripted"];
    const number = ++replies;
    void played(model, context, options)
      .consume((event) => {
        if (event.type !== "done") stream.push(event);
        else stream.push({ ...event, message: dressMessage(event.message, dress, number) });
      })
      .catch(() => undefined); // The error was the last event, and it was handed on.
    return stream;
  };
}

function dressMessage(message: AssistantMessage, dress: Dress, number: number): AssistantMessage {
  return { ...message, content: message.content.flatMap((block) => dress(block, number)) };
}

const DRESSES: Record<VendorName, Dress> = {
  scripted: (block) => [block],
  anthropic(block, number) {
    if (block.type === "thinking") {
      const redacted = { provider: "anthropic", data: "redacted" };
      const hidden: ContentBlock = { type: "thinking", thinking: "", replay: redacted };
      return [{ ...block, signature: `signature-${number}` }, ...(number % 3 === 0 ? [hidden] : [])];
    }
    if (block.type !== "text" || number % 4 !== 0) return [block];
    const id = `srvtoolu_${number}`;
    const search = { type: "server_tool_use", id, name: "web_search", input: {} };
    const found = { type: "web_search_tool_result", tool_use_id: id, content: [] };
    const raw = number % 8 === 0 ? [search, found] : [search];
    return [...raw.map((each) => ({ type: "opaque" as const, provider: "anthropic", raw: each })), block];
  },
  openai(block, number) {
    const replay = (data: unknown) => ({ replay: { provider: "openai", data } });
    if (block.type === "thinking") {
      const item = { type: "reasoning", id: `rs_${number}`, summary: [], encrypted_content: "gAAA" };
      return [{ ...block, ...replay(number % 5 === 0 ? { id: item.id } : item) }];
    }
    if (block.type === "tool_call") return [{ ...block, ...replay({ id: `fc_${number}_${block.id}` }) }];
    if (block.type !== "text") return [block];
    const message = { id: `msg_${number}`, status: "completed", phase: null };
    return [{ ...block, ...replay({ message, part: { type: "output_text", annotations: [] } }) }];
  },
  local(block) {
    if (block.type !== "thinking") return [block];
    return [{ ...block, replay: { provider: "local", data: { field: "reasoning_content" } } }];
  },
};
