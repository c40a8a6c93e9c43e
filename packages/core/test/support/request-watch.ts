import { asRecord } from "../../src/provider/wire-format.ts";

/** What a series of requests of one conversation has shown. */
export interface WatchedRequests {
  requests: number;
  /** Requests that do not begin with the messages of the one before, although nothing was pruned or compacted between. */
  changed: number;
  /** Tool results among the newest ones, over all requests. */
  recentResults: number;
  /** Those of them that were shortened. */
  shortenedResults: number;
}

const SHORTENED = /--- trimmed \(kept |^\[Tool output cleared/m;
const CHARACTERS_PER_TOKEN = 4;

/** Compares each request, as it is on the wire, with the one before it. */
export class RequestWatch {
  readonly seen: WatchedRequests = { requests: 0, changed: 0, recentResults: 0, shortenedResults: 0 };
  private before: readonly string[] = [];
  private mayChange = true;

  /** @param protectTokens the newest results of this size must be whole. */
  constructor(private readonly protectTokens: number) {}

  /** Call it when something was pruned or compacted: the next request may differ. */
  allowChange(): void {
    this.mayChange = true;
  }

  inspect(body: unknown): void {
    const { seen } = this;
    const messages = messagesOf(body);
    const isContinued = this.before.every((message, index) => messages[index] === message);
    seen.requests++;
    if (!isContinued && !this.mayChange) seen.changed++;
    this.mayChange = false;
    this.before = messages;
    let newer = 0;
    for (const result of resultsOf(body).toReversed()) {
      if (newer >= this.protectTokens * CHARACTERS_PER_TOKEN) break;
      newer += result.length;
      seen.recentResults++;
      if (SHORTENED.test(result)) seen.shortenedResults++;
    }
  }
}

/** Each message as JSON, without the marks that only say what is cached. */
function messagesOf(body: unknown): string[] {
  const { messages, input } = asRecord(body);
  const list: unknown[] = Array.isArray(messages) ? messages : Array.isArray(input) ? input : [];
  return list.map((message) =>
    JSON.stringify(message, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  );
}

/** The texts of tool results in a request of any service, oldest first. */
function resultsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(resultsOf);
  if (typeof value !== "object" || value === null) return [];
  const record = asRecord(value);
  if (record.type === "function_call_output") return [String(record.output)];
  if (record.type !== "tool_result") return Object.values(record).flatMap(resultsOf);
  if (typeof record.content === "string") return [record.content];
  const parts: unknown[] = Array.isArray(record.content) ? record.content : [];
  return [parts.map((part) => String(asRecord(part).text ?? "")).join("")];
}
