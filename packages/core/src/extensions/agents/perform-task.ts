import type { AgentEvent } from "../../agent/types.ts";
import { now } from "../../infrastructure/runtime.ts";
import { addBackgroundWork } from "../../jobs/background-work.ts";
import type { SessionManager } from "../../session/manager.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { TaskArguments } from "../../tools/parameters.ts";
import { DEFAULT_AGENT } from "./built-in.ts";
import type { AgentDefinition } from "./definition.ts";
import { composeReport } from "./report.ts";
import { type AgentOutcome, runAgent } from "./run-agent.ts";
import type { AssignedTask, SessionAgent } from "./session-agents.ts";
import type { AgentSession, TaskToolDeps } from "./task-tool.ts";

/**
 * Runs a task to its end, or starts it in the background. A failure of the sub-agent is an error result.
 * @throws Error for the model, when it cannot be started.
 */
export async function performTask(
  { description, prompt, agent: name, background }: TaskArguments,
  context: ToolContext,
  deps: TaskToolDeps,
): Promise<ToolResult> {
  const { agents, limits } = deps;
  const assigned = agents.takeTask(context.toolCallId);
  const definition = assigned?.definition ?? findDefinition(name, deps);
  agents.earlierCount ??= countLinks(deps.session());
  if (agents.count >= limits.maxPerSession)
    throw new Error(
      `This session has had ${limits.maxPerSession} sub-agents, which is the limit. Do the rest yourself.`,
    );
  const stop = new AbortController();
  const agent = agents.add({
    definition,
    description,
    toolCallId: context.toolCallId,
    state: "waiting",
    usage: { turns: 0, toolCalls: 0, tokens: 0, cost: 0 },
    activity: undefined,
    startedAtMs: now(),
    stop: () => stop.abort(),
  });
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const told = assigned?.prompt ?? prompt;
  const task: Task = { agent, definition, prompt: told, check: assigned?.check, signal, context, deps };
  if (!(background ?? definition.isBackground)) return work(task);
  deps.jobs.assertRoom();
  return startInBackground(task);
}

interface Task {
  agent: SessionAgent;
  definition: AgentDefinition;
  prompt: string;
  check: AssignedTask["check"];
  /** Aborted with the parent's run, or to stop this sub-agent alone. */
  signal: AbortSignal;
  context: ToolContext;
  deps: TaskToolDeps;
}

function findDefinition(name: string | undefined, { agents }: TaskToolDeps): AgentDefinition {
  const wanted = name?.trim() ? name.trim() : DEFAULT_AGENT;
  const definition = agents.findDefinition(wanted);
  if (definition) return definition;
  throw new Error(
    `There is no agent ${JSON.stringify(wanted)}. The agents are: ${namesOf(agents.definitions)}.`,
  );
}

function namesOf(definitions: readonly AgentDefinition[]): string {
  return definitions.map((each) => each.name).join(", ");
}

function countLinks(session: SessionManager | undefined): number {
  return session?.branches.entries.filter(({ type }) => type === "task_link").length ?? 0;
}

/** Waits for its turn, works, and reports. */
async function work(task: Task): Promise<ToolResult> {
  const { agent, signal, deps } = task;
  const { agents, limits } = deps;
  try {
    if (!(await agents.enter(limits.maxParallel, signal)))
      throw new Error("The sub-agent was stopped before it could begin.");
    try {
      return await workNow(task);
    } finally {
      agents.release();
    }
  } catch (error) {
    agent.state = signal.aborted ? "stopped" : "failed";
    throw error;
  } finally {
    agent.endedAtMs = now();
    agent.activity = undefined;
  }
}

async function workNow(task: Task): Promise<ToolResult> {
  const { agent, definition, signal, context, deps } = task;
  agent.state = "running";
  agent.startedAtMs = now();
  const opened = await deps.open({ definition, description: agent.description, run: context.run });
  try {
    agent.session = opened.session;
    const { sessionId } = opened.session;
    const parent = deps.session();
    parent?.linkTask({ toolCallId: context.toolCallId, sessionId, agent: definition.name });
    const outcome = await runChecked(task, (text) =>
      runAgent(agent, opened.session, {
        prompt: text,
        signal,
        onEvent: (event) => forward(event, { task, parent, sessionId }),
        onProgress: () => context.onUpdate?.(describeProgress(agent)),
      }),
    );
    const rejection = opened.rejection();
    if (outcome.stopReason === "approval" && rejection) context.run?.reject(rejection);
    return toResult(task, opened, outcome);
  } finally {
    await opened.close();
  }
}

const MAX_REQUESTS = 3;

/** Asks the sub-agent again while its answer does not have the form that its task requires. */
async function runChecked(
  { prompt, check }: Task,
  run: (prompt: string) => Promise<AgentOutcome>,
): Promise<AgentOutcome> {
  let outcome = await run(prompt);
  if (!check) return outcome;
  for (let request = 1; ; request++) {
    // What was refused to it does not matter if the answer is there.
    if (outcome.stopReason !== "end_turn" && outcome.stopReason !== "approval") return outcome;
    const checked = await check(outcome.answer);
    if ("report" in checked) return { answer: checked.report, stopReason: "end_turn" };
    if (request === MAX_REQUESTS) {
      const message = `it has given no usable answer in ${MAX_REQUESTS} requests: ${checked.problem}`;
      return { answer: "", stopReason: "error", error: { name: "Error", message } };
    }
    outcome = await run(
      `Your last message does not have the required form: ${checked.problem}. Send only the JSON value, without a code fence or other text.`,
    );
  }
}

interface Forwarding {
  task: Task;
  parent: SessionManager | undefined;
  sessionId: string;
}

/** Those who watch the parent see the sub-agent's events, and are asked its questions as the parent's. */
function forward(event: AgentEvent, { task, parent, sessionId }: Forwarding): void {
  // Between two runs nobody receives events, and those of a sub-agent are too many to wait.
  if (!parent?.isRunning) return;
  const { agent, context } = task;
  const { name } = agent.definition;
  const origin = { agentId: sessionId, parentToolCallId: context.toolCallId };
  if (event.type !== "approval_request") {
    parent.report({ type: "agent_event", ...origin, agent: name, event });
    return;
  }
  const { requestId, request } = event;
  const asking = { id: sessionId, name, description: agent.description };
  parent.report({
    ...event,
    ...origin,
    requestId: `${sessionId}/${requestId}`,
    request: { ...request, agent: asking },
  });
}

/** One line. */
function describeProgress({ activity, usage }: SessionAgent): string {
  const cost = usage.cost === null ? [] : [`$${usage.cost.toFixed(2)}`];
  return [activity ?? "thinking", `${formatTokens(usage.tokens)} tokens`, ...cost].join(" · ");
}

function formatTokens(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

function toResult({ agent, deps }: Task, opened: AgentSession, outcome: AgentOutcome): ToolResult {
  const durationMs = now() - agent.startedAtMs;
  const { files, remarks, session } = opened;
  const report = composeReport({ agent, outcome, files, cwd: deps.cwd, remarks, durationMs });
  agent.state = outcome.stopReason === "aborted" ? "stopped" : report.isError ? "failed" : "done";
  const { turns, toolCalls, tokens, cost } = agent.usage;
  return {
    ...report,
    metadata: {
      agentId: session.sessionId,
      agent: agent.definition.name,
      ...{ turns, toolCalls, tokens, cost },
    },
  };
}

/** The task becomes a job, whose output is the report. */
function startInBackground(task: Task): ToolResult {
  const { agent, deps, signal } = task;
  const job = addBackgroundWork(deps.jobs, {
    title: `task ${agent.definition.name}: ${agent.description}`,
    report: work(task).then(({ output, note, isError = false }) => ({
      text: [output, note].filter((part) => part !== undefined).join("\n"),
      isError,
    })),
    stop: () => agent.stop(),
    isStopped: () => signal.aborted,
  });
  const output =
    `Started job ${job.id}: sub-agent ${agent.definition.name} works in the background. ` +
    "You are told when it has ended; job_output waits for it and gives its report, job_kill stops it.";
  return { output, metadata: { jobId: job.id, agent: agent.definition.name } };
}
