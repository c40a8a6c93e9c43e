import type { AgentEvent, RunStopReason, SerializableError } from "../../agent/types.ts";
import { now } from "../../infrastructure/runtime.ts";
import type { SessionManager } from "../../session/manager.ts";
import { messageText } from "../../types.ts";
import type { AgentUsage, SessionAgent } from "./session-agents.ts";

/** How the run of a sub-agent ended. */
export interface AgentOutcome {
  /** The text of its last message. */
  answer: string;
  stopReason: RunStopReason;
  error?: SerializableError | undefined;
}

/** Who follows the run of a sub-agent. */
interface AgentObserver {
  /** Gets every event of its run. */
  onEvent(event: AgentEvent): void;
  /** Called when what is shown of it has changed. */
  onProgress(): void;
}

/** Runs the task in the session of a sub-agent and keeps what is known of the agent up to date. Never rejects. */
export async function runAgent(
  agent: SessionAgent,
  session: SessionManager,
  { prompt, signal, onEvent, onProgress }: AgentObserver & { prompt: string; signal: AbortSignal },
): Promise<AgentOutcome> {
  const outcome: AgentOutcome = { answer: "", stopReason: "error" };
  const run = session.run({ role: "user", content: prompt, timestamp: now() }, { signal });
  await run.consume((event) => {
    noteOutcome(outcome, event);
    if (noteUsage(agent, event)) onProgress();
    onEvent(event);
    for (const listen of agent.listeners) listen(event);
  });
  return outcome;
}

function noteOutcome(outcome: AgentOutcome, event: AgentEvent): void {
  if (event.type === "message_end") {
    const text = messageText(event.message).trim();
    if (text !== "") outcome.answer = text;
  }
  if (event.type !== "agent_end") return;
  outcome.stopReason = event.stopReason;
  outcome.error = event.error;
}

/** True if that is shown. */
function noteUsage(agent: SessionAgent, event: AgentEvent): boolean {
  const { usage } = agent;
  switch (event.type) {
    case "agent_event":
      return noteCost(usage, event.event);
    case "usage":
      return noteCost(usage, event);
    case "turn_end":
      usage.turns += 1;
      return false;
    case "tool_start":
      usage.toolCalls += 1;
      agent.activity = describeCall(event.toolName, event.input);
      return true;
    case "message_start":
      agent.activity = undefined;
      return true;
    default:
      return false;
  }
}

function noteCost(usage: AgentUsage, event: AgentEvent): boolean {
  if (event.type === "agent_event") return noteCost(usage, event.event);
  if (event.type !== "usage") return false;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = event.usage;
  usage.tokens += inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  usage.cost = usage.cost === null || event.cost === null ? null : usage.cost + event.cost;
  return true;
}

// The arguments that say most about a call, the most important first.
const MAIN_ARGUMENTS = ["command", "file_path", "pattern", "path", "description", "name", "query", "url"];
const MAX_CALL_CHARS = 120;

function describeCall(toolName: string, input: unknown): string {
  const values = new Map(Object.entries(typeof input === "object" && input !== null ? input : {}));
  const main = MAIN_ARGUMENTS.map((name) => values.get(name)).find((value) => typeof value === "string");
  const line = [toolName, typeof main === "string" ? main : ""].join(" ").replace(/\s+/g, " ").trim();
  return line.length > MAX_CALL_CHARS ? `${line.slice(0, MAX_CALL_CHARS).toWellFormed()}…` : line;
}
