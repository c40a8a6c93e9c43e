import { computeCost } from "../../agent/cost.ts";
import { localDate } from "../../infrastructure/runtime.ts";
import { type CountedSession, type FindPrice, listRequests, type RequestCost } from "./cost-report.ts";

/** What requests are grouped by. */
export const USAGE_GROUPS = ["day", "project", "model", "tool"] as const;

/** See `USAGE_GROUPS`. */
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The requests of one day, project or model, or the part of requests that belongs to a tool. */
export interface UsageRow {
  key: string;
  sessions: number;
  requests: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number };
  /** US dollars; null once a price is unknown. */
  cost: number | null;
}

/** Adds up the requests of many sessions, one after the other. */
export class UsageReport {
  private readonly rows = new Map<string, UsageRow & { known: number; lastSession: string }>();

  constructor(
    private readonly options: {
      by: UsageGroup;
      /** Requests before this local date, `YYYY-MM-DD`, do not count. */
      since?: string | undefined;
      findPrice: FindPrice;
    },
  ) {}

  /** @param project its root. */
  add(session: CountedSession, project: string): void {
    const { by, since, findPrice } = this.options;
    for (const request of listRequests(withoutForeignReplies(session), findPrice)) {
      const day = localDate(Date.parse(request.time) || 0);
      if (since !== undefined && day < since) continue;
      if (by === "tool") this.addTools(request, session.header.id);
      else {
        const key = { day, project, model: request.model }[by];
        const { fresh: input, output, cached: cacheRead, written: cacheWrite, cost } = request;
        this.addTo(key, { tokens: { input, output, cacheRead, cacheWrite }, cost }, session.header.id);
      }
    }
  }

  /** By day the newest first, else the most expensive first. */
  list(): UsageRow[] {
    const rows = [...this.rows.values()];
    if (this.options.by === "day") rows.sort((left, right) => (left.key < right.key ? 1 : -1));
    else rows.sort((left, right) => right.known - left.known || sumTokens(right) - sumTokens(left));
    return rows.map(({ known: _, lastSession: __, ...row }) => row);
  }

  /** A tool's part of a request: its definition and its results, and that share of what the input cost. */
  private addTools(request: RequestCost, sessionId: string): void {
    const { parts, fresh, cached, written } = request;
    const total = fresh + cached + written;
    const inputCost = this.costOfInput(request);
    const tools = new Map<string, number>();
    for (const [cause, tokens] of Object.entries(parts)) {
      const tool = toTool(cause);
      if (tool !== undefined) tools.set(tool, (tools.get(tool) ?? 0) + tokens);
    }
    for (const [tool, tokens] of tools) {
      const share = total > 0 ? tokens / total : 0;
      const shareOf = (count: number) => Math.round(count * share);
      this.addTo(
        tool,
        {
          tokens: {
            ...{ input: shareOf(fresh), output: 0 },
            ...{ cacheRead: shareOf(cached), cacheWrite: shareOf(written) },
          },
          cost: inputCost === null ? null : inputCost * share,
        },
        sessionId,
      );
    }
  }

  /** Known only at a price that is known still. */
  private costOfInput({ model, cost, fresh, cached, written, output }: RequestCost): number | null {
    const price = this.options.findPrice(model);
    if (price === undefined || cost === null) return null;
    const usage = { inputTokens: fresh, cacheReadTokens: cached, cacheWriteTokens: written };
    if (computeCost({ ...usage, outputTokens: output }, price) !== cost) return null;
    return computeCost({ ...usage, outputTokens: 0 }, price);
  }

  private addTo(key: string, { tokens, cost }: Pick<UsageRow, "tokens" | "cost">, sessionId: string): void {
    const row = this.rows.get(key) ?? {
      ...{ key, sessions: 0, requests: 0, cost: 0, known: 0, lastSession: "" },
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    this.rows.set(key, row);
    // The requests of a session are added together.
    if (row.lastSession !== sessionId) row.sessions++;
    row.lastSession = sessionId;
    row.requests++;
    row.tokens.input += tokens.input;
    row.tokens.output += tokens.output;
    row.tokens.cacheRead += tokens.cacheRead;
    row.tokens.cacheWrite += tokens.cacheWrite;
    row.known += cost ?? 0;
    row.cost = row.cost === null || cost === null ? null : Number((row.cost + cost).toFixed(9));
  }
}

/** The replies of an imported session were paid for in the other agent: only what was sent from here has request entries. */
function withoutForeignReplies({ header, entries }: CountedSession): CountedSession {
  return { header, entries: header.source ? entries.filter(({ type }) => type === "request") : entries };
}

/** Results of a server's tools count as the server, like its definitions. */
function toTool(cause: string): string | undefined {
  const [, name] = /^(?:tool|results):(.*)$/s.exec(cause) ?? [];
  if (name === undefined) return cause.startsWith("mcp:") ? cause : undefined;
  const [, server] = /^mcp__(.+?)__/.exec(name) ?? [];
  return server === undefined ? name : `mcp:${server}`;
}

function sumTokens({ tokens: { input, output, cacheRead, cacheWrite } }: UsageRow): number {
  return input + output + cacheRead + cacheWrite;
}
