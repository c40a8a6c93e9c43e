import { relative } from "node:path";
import type { FileTracker } from "../../tools/workspace.ts";
import type { AgentOutcome } from "./run-agent.ts";
import type { SessionAgent } from "./session-agents.ts";

/** What the report of a sub-agent is made of. */
interface ReportSource {
  agent: SessionAgent;
  outcome: AgentOutcome;
  /** What its tools know about files. */
  files: FileTracker;
  cwd: string;
  /** What the parent should know besides, each a sentence. */
  remarks: readonly string[];
  durationMs: number;
}

/** The report as the result of the parent's call. */
interface AgentReport {
  output: string;
  note: string;
  isError: boolean;
}

const MAX_NAMED_FILES = 20;

/**
 * The result of a task for the parent's model. The answer is indented, so that no line of it can pass for one of ours:
 * it was written by a model that has read files and command output.
 */
export function composeReport({
  agent,
  outcome,
  files,
  cwd,
  remarks,
  durationMs,
}: ReportSource): AgentReport {
  const { answer } = outcome;
  const problem = describeProblem(outcome);
  const head = `Sub-agent ${agent.definition.name} ${problem ?? "has finished"} (${describeUsage(agent, durationMs)}).`;
  const body = answer === "" ? [] : [problem ? "Its last message:" : "Its report:", "", indent(answer)];
  const read = files.readFiles.filter((path) => !files.modifiedFiles.includes(path));
  return {
    output: [head, ...remarks, ...body].join("\n"),
    note: [`Read: ${listFiles(read, cwd)}.`, `Changed: ${listFiles(files.modifiedFiles, cwd)}.`].join("\n"),
    isError: problem !== undefined,
  };
}

/** Why it is not a success, as a clause after its name; undefined for a success. */
function describeProblem({ answer, stopReason, error }: AgentOutcome): string | undefined {
  switch (stopReason) {
    case "end_turn":
      return answer === "" ? "ended without an answer" : undefined;
    case "error":
      return `failed: ${error?.message ?? "its run ended with an error"}`;
    case "aborted":
      return "was stopped";
    case "approval":
      return "stopped: a call of it was not approved";
    case "max_turns":
      return "stopped at the limit of turns";
    case "max_cost":
      return "stopped at the cost limit";
    case "max_tokens":
      return "stopped: its answer was cut off at the output limit";
    case "refusal":
      return "stopped: its model declined to answer";
    case "loop":
      return "stopped: it repeated the same call";
  }
}

/** `3 turns, 12 calls, 45,120 tokens, $0.0123, 12 s`. */
function describeUsage({ usage }: Pick<SessionAgent, "usage">, durationMs: number): string {
  const { turns, toolCalls, tokens, cost } = usage;
  const facts = [
    turns === 1 ? "1 turn" : `${turns} turns`,
    toolCalls === 1 ? "1 call" : `${toolCalls} calls`,
    `${tokens.toLocaleString("en-US")} tokens`,
    cost === null ? "cost unknown" : `$${cost.toFixed(4)}`,
    `${(durationMs / 1_000).toFixed(1)} s`,
  ];
  return facts.join(", ");
}

/** Commands may have read and changed more, which nobody knows. */
function listFiles(paths: readonly string[], cwd: string): string {
  if (paths.length === 0) return "no file by its tools";
  const shown = paths.slice(0, MAX_NAMED_FILES).map((path) => showPath(path, cwd));
  const more = paths.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function showPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  const shown = inside === "" || inside.startsWith("..") ? path : inside;
  return /[\n\r,]/.test(shown) ? JSON.stringify(shown) : shown;
}

function indent(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `  ${line}`)
    .join("\n");
}
