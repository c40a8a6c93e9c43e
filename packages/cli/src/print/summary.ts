import {
  type AgentEvent,
  type ApprovalRequest,
  type AssistantMessage,
  addUsage,
  assertNever,
  EMPTY_USAGE,
  findWebSearches,
  formatTodos,
  type Model,
  messageText,
  type NeededApproval,
  type RunStopReason,
  type SerializableError,
  type TodoItem,
  type Usage,
} from "@diligent/core/run";
import { type Evidence, formatEvidence } from "../evidence/format-evidence.ts";
import { describeJobUpdate } from "../session/job-watch.ts";
import { toSingleLine } from "../text/terminal-text.ts";

/** The outcome of a run, from its events alone. */
export interface RunSummary {
  /** The text of the last assistant message. */
  result: string;
  /** Undefined while the run is in progress. */
  stopReason?: RunStopReason;
  usage: Usage;
  /** US dollars; null when the model's price is unknown. */
  cost: number | null;
  /** Model replies, each with its tool results. */
  turns: number;
  error?: SerializableError;
  /** The last request that needed approval, or was refused for lack of one. */
  lastAsked?: { request: ApprovalRequest; needed?: NeededApproval };
  /** What was checked, if anything was, or if the answer claims it. */
  evidence?: Evidence;
}

/** The summary of a run before its first event; without both prices its cost stays unknown. */
export function createRunSummary(model: Pick<Model, "inputCostPer1M" | "outputCostPer1M">): RunSummary {
  const hasPrice = model.inputCostPer1M !== undefined && model.outputCostPer1M !== undefined;
  return { result: "", usage: EMPTY_USAGE, cost: hasPrice ? 0 : null, turns: 0 };
}

/** The summary after one more event. */
export function addEventToSummary(summary: RunSummary, event: AgentEvent): RunSummary {
  switch (event.type) {
    case "message_end":
      return { ...summary, result: messageText(event.message) };
    case "usage":
      return {
        ...summary,
        usage: addUsage(summary.usage, event.usage),
        cost: summary.cost === null || event.cost === null ? null : summary.cost + event.cost,
      };
    case "turn_end":
      // A request without any reply is not a turn.
      return event.message.content.length === 0 && event.message.stopReason !== "end_turn"
        ? summary
        : { ...summary, turns: summary.turns + 1 };
    case "approval_request":
      return {
        ...summary,
        lastAsked: { request: event.request, ...(event.needed && { needed: event.needed }) },
      };
    case "evidence": {
      const { type: _, ...evidence } = event;
      return { ...summary, evidence };
    }
    case "agent_event":
      return addAgentEvent(summary, event.event);
    case "agent_end":
      return { ...summary, stopReason: event.stopReason, ...(event.error && { error: event.error }) };
    default:
      return summary;
  }
}

/** The turns and the cost of a sub-agent count, too; its answer is not the run's. */
function addAgentEvent(summary: RunSummary, event: AgentEvent): RunSummary {
  const counted = ["usage", "turn_end", "agent_event"].includes(event.type);
  return counted ? addEventToSummary(summary, event) : summary;
}

/** The summary with another prompt under way: what was used adds up, the end is that of the last prompt. */
export function reopenSummary({ usage, cost, turns }: RunSummary): RunSummary {
  return { result: "", usage, cost, turns };
}

/** The summary of a run that broke off without a final event. */
export function endSummary(
  summary: RunSummary,
  stopReason: RunStopReason,
  error?: SerializableError,
): RunSummary {
  return { ...summary, stopReason, ...(error && { error }) };
}

// The width of a common terminal, minus a prefix that a shell or a log may add.
const MAX_COLUMNS = 100;

// Saved knowledge affects later sessions, so all of it is shown: the maximum length of an entry, in wide characters.
const MAX_KNOWLEDGE_COLUMNS = 4_000;

/**
 * One line about an event for a person following a run; undefined if there is nothing to show. Safe for a terminal. The
 * model's text is no progress, and why a run ended is reported once, by `describeStop`.
 */
export function describeProgress(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "tool_start":
      // Its event shows all of it.
      if (event.toolName === "todo") return undefined;
      return toSingleLine(
        [event.toolName, describeInput(event.input)].filter(Boolean).join(": "),
        MAX_COLUMNS,
      );
    case "tool_update":
      return event.input && toSingleLine(`edited by you: ${describeInput(event.input)}`, MAX_COLUMNS);
    case "tool_end":
      return event.isError
        ? toSingleLine(`${event.toolName} failed: ${event.output}`, MAX_COLUMNS)
        : describeReport(event.metadata?.report);
    case "message_end":
      return describeWebSearches(event.message);
    case "todo":
      return describeTodos(event.todos);
    case "hook":
      return event.problem === undefined
        ? undefined
        : toSingleLine(
            `warning: the ${event.event} hook ${event.command} failed: ${event.problem}`,
            MAX_COLUMNS,
          );
    case "agent_event":
      return describeAgentEvent(event);
    case "evidence":
      return formatEvidence(event).join("\n");
    case "prune":
      return describePruning(event);
    case "compaction_start":
      return `⟳ Compacting context (${formatTokens(event.estimatedTokens)} tokens)...`;
    case "compaction_end":
      return describeCompaction(event);
    case "knowledge_saved":
      return `💡 Knowledge saved: ${toSingleLine(event.content, MAX_KNOWLEDGE_COLUMNS)}`;
    case "job_update":
      return describeJobUpdate(event);
    case "mcp_server":
      return event.state === "failed"
        ? toSingleLine(`The server ${event.name} is not available. ${event.error ?? ""}`, MAX_COLUMNS)
        : undefined;
    case "notice":
      return event.level === "info" ? event.message : `${event.level}: ${event.message}`;
    case "error":
      return event.fatal ? undefined : `error: ${event.error.message}`;
    default:
      return undefined;
  }
}

// What a formatter has changed, and the new errors, of which there are at most 20 lines.
const MAX_REPORT_LINES = 24;

/** What formatters and language servers say about an edit, a line each. */
function describeReport(report: unknown): string | undefined {
  if (typeof report !== "string") return undefined;
  const lines = report.split("\n");
  const more = lines.length - MAX_REPORT_LINES;
  return [
    ...lines.slice(0, MAX_REPORT_LINES).map((line) => `  ${toSingleLine(line, MAX_COLUMNS)}`),
    ...(more > 0 ? [`  ${more} more lines`] : []),
  ].join("\n");
}

/** The calls of a sub-agent, under those of the conversation. */
function describeAgentEvent({ agent, event }: Extract<AgentEvent, { type: "agent_event" }>) {
  const isCall = event.type === "tool_start" || event.type === "tool_end" || event.type === "agent_event";
  const line = isCall ? describeProgress(event) : undefined;
  return line && `  ${toSingleLine(`${agent}> ${line}`, MAX_COLUMNS)}`;
}

const MAX_SHOWN_SOURCES = 20;
// A cut address leads nowhere.
const MAX_URL_COLUMNS = 2_000;

/** The searches of a reply and the pages that it cites, an address on each line; undefined if there are none. */
export function describeWebSearches(message: AssistantMessage): string | undefined {
  const { queries, sources, problems } = findWebSearches(message);
  const lines = [
    ...queries.map((query) => toSingleLine(`web_search: ${query}`, MAX_COLUMNS)),
    ...problems.map((problem) => toSingleLine(`web_search failed: ${problem}`, MAX_COLUMNS)),
    ...(sources.length > 0 ? ["Sources:"] : []),
    ...sources
      .slice(0, MAX_SHOWN_SOURCES)
      .map(
        ({ url, title }, index) =>
          `  ${index + 1}. ${toSingleLine(title, MAX_COLUMNS)} ${toSingleLine(url, MAX_URL_COLUMNS)}`,
      ),
    ...(sources.length > MAX_SHOWN_SOURCES ? [`  and ${sources.length - MAX_SHOWN_SOURCES} more`] : []),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

/** The checklist, an item on each line. */
export function describeTodos(todos: readonly TodoItem[]): string {
  if (todos.length === 0) return "todo: removed";
  const done = todos.filter(({ status }) => status === "completed").length;
  const items = todos.map((item) => toSingleLine(formatTodos([item]), MAX_COLUMNS));
  return [`todo: ${done} of ${todos.length} done`, ...items.map((item) => `  ${item}`)].join("\n");
}

/** What was shortened. */
export function describePruning({
  entryIds: { length },
  tokensBefore,
  tokensAfter,
}: {
  entryIds: readonly string[];
  tokensBefore: number;
  tokensAfter: number;
}): string {
  const results = length === 1 ? "1 tool result" : `${length} tool results`;
  return `Shortened ${results}: ${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
}

/** The result of a compaction. */
export function describeCompaction({
  tokensBefore,
  tokensAfter,
}: {
  tokensBefore: number;
  tokensAfter: number;
}): string {
  return `Context compacted: ${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tokens`;
}

/** In thousands, as `142k`; smaller numbers as they are. */
export function formatTokens(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

/** What a call is about: its most telling argument, else all of them. */
function describeInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return String(input);
  const values = new Map<string, unknown>(Object.entries(input));
  for (const name of ["command", "file_path", "pattern", "path", "url", "content", "id", "description"]) {
    const value = values.get(name);
    if (typeof value === "string" && value !== "") return value;
  }
  return values.size === 0 ? "" : JSON.stringify(input);
}

/** Why a run did not end normally, for a person; undefined if it did, or if a notice has reported it. */
export function describeStop({
  stopReason,
  error,
  lastAsked,
}: Pick<RunSummary, "stopReason" | "error" | "lastAsked">): string | undefined {
  switch (stopReason) {
    case undefined:
    case "end_turn":
    case "max_turns":
    case "max_cost":
    case "loop":
    case "max_tokens":
      return undefined;
    case "error":
      return error === undefined ? "the run failed" : describeFailure(error);
    case "refusal":
      return "the model declined to answer";
    case "approval":
      return describeMissingApproval(lastAsked);
    case "aborted":
      return "interrupted";
    default:
      return assertNever(stopReason);
  }
}

/** The adapter names the setting of the key; here is how to store another one. */
function describeFailure({ errorType, message }: NonNullable<RunSummary["error"]>): string {
  if (errorType !== "auth") return message;
  return `${message.replace(/\.$/, "")}. Store another key with /login or diligent login; a variable that is set overrides it.`;
}

/** What was not approved, which part of it, and what would have allowed it: the flag, and the rules. */
function describeMissingApproval(asked: RunSummary["lastAsked"]): string {
  const what = asked === undefined ? "something" : toSingleLine(asked.request.description, MAX_COLUMNS);
  const { mode, parts, rules } = asked?.needed ?? {};
  const [rule] = rules ?? [];
  // A list of hosts holds in every mode.
  if (asked?.request.permission === "fetch" && asked.request.details?.url === undefined && rule)
    return `${what} needed an approval and no one could give it; --network ${rule.pattern} or the setting "sandboxNetwork" allows it`;
  const which = parts ? ` for ${parts.map((part) => toSingleLine(part, MAX_COLUMNS)).join(" and ")}` : "";
  const ways = [...(mode ? [`--approval ${mode} allows everything`] : []), describeRules(rules)];
  return `${what} needed an approval${which} and no one could give it; ${ways.join(", ")}`;
}

function describeRules(rules: NeededApproval["rules"]): string {
  if (rules === undefined) return "no rule allows this";
  const list = rules.map((rule) => JSON.stringify(rule)).join(" and ");
  return rules.length === 1
    ? `the rule ${list} in "permissions" allows this`
    : `the rules ${list} in "permissions" allow this`;
}
