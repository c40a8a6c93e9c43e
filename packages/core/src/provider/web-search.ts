import type { AssistantMessage, ContentBlock, OpaqueBlock } from "../types.ts";
import { asRecord, asString } from "./wire-format.ts";

/** What a reply's searches by the provider's own tool were about, and the pages that its text cites. */
interface WebSearches {
  queries: string[];
  /** Each address once, in the order of the text. */
  sources: { url: string; title: string }[];
  /** Why searches failed, in the provider's own words. */
  problems: string[];
}

/** Finds the searches and citations in a reply of Anthropic or OpenAI; everything is empty for other replies. */
export function findWebSearches({ content }: Pick<AssistantMessage, "content">): WebSearches {
  const citations = content.flatMap(citationsOf).map(asRecord);
  const sources = new Map<string, string>();
  for (const { url, title } of citations) {
    const address = asString(url);
    if (address !== "" && !sources.has(address)) sources.set(address, asString(title));
  }
  return {
    queries: content.flatMap(queriesOf).filter((query) => query !== ""),
    sources: [...sources].map(([url, title]) => ({ url, title })),
    problems: content.flatMap(problemsOf),
  };
}

/** True for a search of the provider's own tool, or its result. */
export function isWebSearchBlock({ raw }: OpaqueBlock): boolean {
  const { type, name } = asRecord(raw);
  if (type === "server_tool_use") return name === "web_search";
  return type === "web_search_call" || type === "web_search_tool_result";
}

function queriesOf(block: ContentBlock): string[] {
  if (block.type !== "opaque") return [];
  const { type, name, input, action } = asRecord(block.raw);
  if (type === "server_tool_use" && name === "web_search") return [asString(asRecord(input).query)];
  if (type !== "web_search_call") return [];
  const { query, queries } = asRecord(action);
  return Array.isArray(queries) && queries.length > 0 ? queries.map(asString) : [asString(query)];
}

function problemsOf(block: ContentBlock): string[] {
  if (block.type !== "opaque") return [];
  const { type, content, status } = asRecord(block.raw);
  if (type === "web_search_call" && status === "failed") return ["failed"];
  if (type !== "web_search_tool_result" || Array.isArray(content)) return [];
  return [asString(asRecord(content).error_code) || "failed"];
}

function citationsOf(block: ContentBlock): unknown[] {
  if (block.type !== "text") return [];
  const { citations, part } = asRecord(block.replay?.data);
  const found = citations ?? asRecord(part).annotations;
  return Array.isArray(found) ? found : [];
}
