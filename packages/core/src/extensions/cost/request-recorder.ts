import { computeCost } from "../../agent/cost.ts";
import type { SessionScope } from "../../harness/types.ts";
import type { Model, StreamContext, StreamOptions } from "../../provider/types.ts";
import type { SessionManager } from "../../session/manager.ts";
import type { RequestEntry } from "../../session/types.ts";
import type { Usage } from "../../types.ts";
import { countParts, scaleParts } from "./count-parts.ts";
import { describePrefix, explainBreak, type SentRequest } from "./explain-break.ts";

/** A request as it was sent. */
interface RecordedRequest {
  model: Model;
  context: StreamContext;
  options: Pick<StreamOptions, "purpose" | "effort">;
  /** Milliseconds since the epoch. */
  sentMs: number;
}

/** Adds an entry for each request of a session. */
export class RequestRecorder {
  /** The last request of the conversation, and the number of entries that the session had then. */
  private last: { sessionId: string; request: SentRequest; entries: number } | undefined;

  constructor(private readonly scope: Pick<SessionScope, "session" | "promptParts">) {}

  record({ model, context, options, sentMs }: RecordedRequest, usage: Usage): void {
    const session = this.scope.session();
    if (!session) return;
    const { purpose, effort } = options;
    const total = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const parts = scaleParts(countParts(context, this.scope.promptParts()), total);
    const { id: modelId, provider } = model;
    const request = {
      ...{ provider, modelId, ...(purpose && { purpose }) },
      sent: new Date(sentMs).toISOString(),
      ...{ usage, cost: computeCost(usage, model), parts },
    };
    if (purpose !== undefined) {
      session.noteRequest(request);
      return;
    }
    const { prefix, details } = describePrefix(context, effort);
    const sent = { modelId, provider, prefix, details, usage, sentMs };
    const { entries } = session.branches;
    const before = this.findLast(session);
    const entriesSince = before ? entries.slice(before.entries) : [];
    const broken = before && explainBreak(before.request, { ...sent, model, context, parts, entriesSince });
    session.noteRequest({ ...request, prefix, ...(broken && { break: broken }) });
    this.last = { sessionId: session.sessionId, request: sent, entries: session.branches.entries.length };
  }

  /** The request before, which may be one of an earlier run of the program, or of the session that was forked. */
  private findLast({ sessionId, sessionPath, branches }: SessionManager): typeof this.last {
    if (this.last?.sessionId === sessionId) return this.last;
    const { header, entries } = branches;
    const at = entries.findLastIndex((entry) => entry.type === "request" && entry.prefix !== undefined);
    const entry = entries[at];
    if (entry?.type === "request" && entry.prefix)
      return { sessionId, request: toSentRequest(entry, entry.prefix), entries: at + 1 };
    // A sub-agent's session has a parent, too, and copies nothing of it.
    if (header.parentSession === undefined || header.agent !== undefined || !sessionPath) return undefined;
    const { findRequestBeforeFork }: typeof import("./request-before-fork.ts") =
      require("./request-before-fork.ts");
    const found = findRequestBeforeFork(header, entries, sessionPath);
    if (!found?.request.prefix) return undefined;
    const request = toSentRequest(found.request, found.request.prefix);
    return { sessionId, request, entries: found.entries };
  }
}

function toSentRequest(
  { modelId, provider, usage, sent, parts }: RequestEntry,
  prefix: SentRequest["prefix"],
): SentRequest {
  const causes = Object.keys(parts);
  // The tools of a server are counted as one.
  const isComplete = !causes.some((cause) => cause.startsWith("mcp:"));
  const toolNames = causes.flatMap((cause) => (cause.startsWith("tool:") ? [cause.slice(5)] : []));
  return {
    ...{ modelId, provider, prefix, usage, sentMs: Date.parse(sent) },
    ...(isComplete && { toolNames }),
  };
}
