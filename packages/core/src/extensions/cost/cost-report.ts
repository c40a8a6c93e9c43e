import { computeCost } from "../../agent/cost.ts";
import type { Model } from "../../provider/types.ts";
import type { PrefixBreakCause, RequestEntry, SessionEntry, SessionHeader } from "../../session/types.ts";
import type { AssistantMessage, Usage } from "../../types.ts";
import type { Parts } from "./count-parts.ts";

/** A model request of a session. Tokens of its input: `cached` were read from the cache, `written` to it. */
export interface RequestCost {
  entryId: string;
  model: string;
  provider?: string;
  /** Left out for the conversation itself. */
  purpose?: string;
  /** The sub-agent whose request it is, and its session. */
  agent?: string;
  sessionId?: string;
  /** ISO 8601. */
  time: string;
  /** Empty for a request from before causes were kept. */
  parts: Parts;
  cached: number;
  written: number;
  fresh: number;
  output: number;
  /** US dollars; null if the price is unknown. */
  cost: number | null;
}

/** A request for which the provider had to read again what it had cached. */
export interface BreakCost {
  entryId: string;
  why: PrefixBreakCause;
  /** Where the request differs, for people. */
  where: string;
  detail?: string;
  tokens: number;
  cost: number | null;
}

/** What a session and its sub-agents have cost. */
export interface CostReport {
  /** US dollars; null once any price is unknown. */
  total: number | null;
  /** The sum of the known prices. */
  known: number;
  requests: RequestCost[];
  breaks: BreakCost[];
}

/** Finds the prices of a model by its id, for requests from before costs were kept. */
export type FindPrice = (modelId: string) => Model | undefined;

/** A session as it is read from its file. */
export interface CountedSession {
  header: Pick<SessionHeader, "id" | "timestamp" | "agent" | "parentSession" | "source">;
  entries: readonly SessionEntry[];
}

/** The costs of a session and of the sessions of its sub-agents, the oldest request first. */
export function reportCost(sessions: readonly CountedSession[], findPrice: FindPrice): CostReport {
  const requests = sessions
    .flatMap((session) => listRequests(session, findPrice))
    .sort((left, right) => (left.time < right.time ? -1 : left.time > right.time ? 1 : 0));
  const breaks = sessions.flatMap(({ entries }) => entries.flatMap((entry) => toBreak(entry) ?? []));
  return { ...addUpCosts(requests.map(({ cost }) => cost)), requests, breaks };
}

/** `total` is null once one of the costs is unknown, `known` the sum of the others. */
function addUpCosts(costs: readonly (number | null)[]): { total: number | null; known: number } {
  const known = costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
  return { total: costs.includes(null) ? null : known, known };
}

/**
 * The requests of a session's file, on all branches. A reply without a request entry is one, too: it is from before
 * they were kept. What a fork has copied was paid for in the other session.
 */
export function listRequests({ header, entries }: CountedSession, findPrice: FindPrice): RequestCost[] {
  const agent = header.agent === undefined ? {} : { agent: header.agent, sessionId: header.id };
  const kept = new Set(
    entries.flatMap((entry) => (entry.type === "request" && !entry.purpose ? [entry.parentId] : [])),
  );
  const isCopied = (timestamp: string) => header.parentSession !== undefined && timestamp < header.timestamp;
  return entries.flatMap((entry) => {
    if (isCopied(entry.timestamp)) return [];
    if (entry.type === "request") return [{ ...toRequestCost(entry), ...agent }];
    if (entry.type !== "message" || entry.message.role !== "assistant" || kept.has(entry.parentId)) return [];
    const { message } = entry;
    if (sumUsage(message.usage) === 0) return [];
    return [{ ...toEarlierCost(message, findPrice), entryId: entry.id, time: entry.timestamp, ...agent }];
  });
}

function toRequestCost({
  id: entryId,
  modelId: model,
  provider,
  purpose,
  sent: time,
  parts,
  usage,
  cost,
}: RequestEntry): RequestCost {
  return { entryId, model, provider, ...(purpose && { purpose }), time, parts, ...toTokens(usage), cost };
}

function toEarlierCost(
  { model, usage }: AssistantMessage,
  findPrice: FindPrice,
): Omit<RequestCost, "entryId" | "time"> {
  const priced = findPrice(model);
  return { model, parts: {}, ...toTokens(usage), cost: priced ? computeCost(usage, priced) : null };
}

function toTokens(usage: Usage): Pick<RequestCost, "cached" | "written" | "fresh" | "output"> {
  const { cacheReadTokens, cacheWriteTokens, inputTokens, outputTokens } = usage;
  // A damaged file may contain any number.
  const [cached = 0, written = 0, fresh = 0, output = 0] = [
    ...[cacheReadTokens, cacheWriteTokens, inputTokens, outputTokens],
  ].map((tokens) => Math.max(0, tokens));
  return { cached, written, fresh, output };
}

function sumUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

function toBreak(entry: SessionEntry): BreakCost | undefined {
  if (entry.type !== "request" || !entry.break) return undefined;
  const { why, at, messagesBefore, detail, tokens, cost } = entry.break;
  const where =
    at === "messages" && messagesBefore !== undefined ? `message ${messagesBefore + 1}` : PLACES[at];
  return { entryId: entry.id, why, where, ...(detail !== undefined && { detail }), tokens, cost };
}

const PLACES = {
  model: "all of it",
  tools: "the tools",
  system: "the system prompt",
  messages: "the messages",
  end: "nothing has changed",
} as const;

/** The tokens of all requests by cause, the largest first. */
export function sumCauses(
  requests: readonly Pick<RequestCost, "parts">[],
): [cause: string, tokens: number][] {
  const sums = new Map<string, number>();
  for (const { parts } of requests)
    for (const [cause, tokens] of Object.entries(parts)) sums.set(cause, (sums.get(cause) ?? 0) + tokens);
  return [...sums].sort(([, left], [, right]) => right - left);
}

/** The sessions of the sub-agents that a session has started. */
export function listChildSessions(entries: readonly SessionEntry[]): string[] {
  return [...new Set(entries.flatMap((entry) => (entry.type === "task_link" ? [entry.sessionId] : [])))];
}
