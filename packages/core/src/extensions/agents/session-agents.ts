import type { AgentEvent } from "../../agent/types.ts";
import type { SessionManager } from "../../session/manager.ts";
import type { AgentDefinition } from "./definition.ts";

/** How many sub-agents a session may have. */
export interface AgentLimits {
  /** At the same time; further ones wait. */
  maxParallel: number;
  /** 1: sub-agents have none of their own. */
  maxDepth: number;
  maxPerSession: number;
}

/** The limits where none are configured. */
export const AGENT_LIMITS: AgentLimits = { maxParallel: 4, maxDepth: 1, maxPerSession: 50 };

/** `waiting`: for one of those that run at the same time. */
export type AgentState = "waiting" | "running" | "done" | "failed" | "stopped";

/** What a sub-agent has used so far. */
export interface AgentUsage {
  turns: number;
  toolCalls: number;
  tokens: number;
  /** US dollars; null when the price is unknown. */
  cost: number | null;
}

/** A sub-agent that works on a task, or did. */
export interface SessionAgent {
  /** Counted from 1. */
  number: number;
  definition: Pick<AgentDefinition, "name">;
  /** The task in a few words. */
  description: string;
  toolCallId: string;
  state: AgentState;
  usage: AgentUsage;
  /** The call that it makes, on one line. */
  activity: string | undefined;
  /** Milliseconds since the epoch. */
  startedAtMs: number;
  endedAtMs?: number | undefined;
  /** Once it is open. */
  session?: SessionManager | undefined;
  /** They get every event of its run from now on. */
  readonly listeners: Set<(event: AgentEvent) => void>;
  stop(): void;
}

/** A task that a sub-agent gets by a call that is made in place of the model. */
export interface AssignedTask {
  definition: AgentDefinition;
  /** A few words. */
  title: string;
  /** What the sub-agent is told. */
  prompt: string;
  /** What the call, which the model sees, has in place of a long prompt. */
  shownPrompt?: string | undefined;
  /** What its answer becomes in the report, or what is wrong with it, for the sub-agent. */
  check?: ((answer: string) => Promise<{ report: string } | { problem: string }>) | undefined;
}

/** A prompt that sub-agents work on instead of the model to which it is sent. */
interface Assignment {
  prompt: string;
  /** By the ids of the calls by which the sub-agents get them. */
  tasks: ReadonlyMap<string, AssignedTask>;
}

/** The sub-agents of one session: how many may run, and what each does. */
export class SessionAgents {
  private readonly started: SessionAgent[] = [];
  private running = 0;
  private readonly waiting = new Set<() => void>();
  /** What the model can choose from. */
  definitions: readonly AgentDefinition[] = [];
  /** True if the session has the tool that gives them tasks. */
  isOffered = false;
  private assignment: Assignment | undefined;
  private tasks = new Map<string, AssignedTask>();
  private assignments = 0;
  /** The sub-agents that the session had in earlier runs of the program; undefined until somebody has counted them. */
  earlierCount: number | undefined;

  /** Oldest first. */
  get list(): readonly SessionAgent[] {
    return this.started;
  }

  get count(): number {
    return (this.earlierCount ?? 0) + this.started.length;
  }

  /**
   * Has a sub-agent work on the next prompt if that has this text. False if there is no sub-agent of this name, which may
   * be an agent of another program.
   */
  assign({
    agent,
    model,
    prompt,
    title,
  }: {
    agent: string;
    model: string | undefined;
    prompt: string;
    title: string;
  }): boolean {
    const definition = this.isOffered ? this.findDefinition(agent) : undefined;
    if (definition === undefined) return false;
    this.assignTasks(prompt, [
      { definition: { ...definition, model: model ?? definition.model }, prompt, title },
    ]);
    return true;
  }

  /** Has sub-agents work side by side on the next prompt if that has this text. */
  assignTasks(prompt: string, tasks: readonly AssignedTask[]): void {
    const named = tasks.map((task): [string, AssignedTask] => {
      this.assignments += 1;
      return [`assigned_${this.assignments}_${crypto.randomUUID().slice(0, 8)}`, task];
    });
    this.assignment = { prompt, tasks: new Map(named) };
    this.tasks = new Map(named);
  }

  /** The assignment of this prompt, which is given once; `takeTask` knows its tasks until their calls begin. */
  findAssignment(prompt: string): Assignment | undefined {
    return this.assignment !== undefined && prompt.includes(this.assignment.prompt)
      ? this.assignment
      : undefined;
  }

  /** The task that this call was made for. */
  takeTask(toolCallId: string): AssignedTask | undefined {
    const task = this.tasks.get(toolCallId);
    if (task === undefined) return undefined;
    this.tasks.delete(toolCallId);
    this.assignment = undefined;
    return task;
  }

  /** By its name, in any case. */
  findDefinition(name: string): AgentDefinition | undefined {
    const isNamed = (each: AgentDefinition) => each.name.toLowerCase() === name.toLowerCase();
    return this.definitions.find((each) => each.name === name) ?? this.definitions.find(isNamed);
  }

  /** The sub-agent whose session has this id. */
  findBySession(sessionId: string): SessionAgent | undefined {
    return this.started.find(({ session }) => session?.sessionId === sessionId);
  }

  add(agent: Omit<SessionAgent, "number" | "listeners">): SessionAgent {
    const added = {
      ...agent,
      number: this.started.length + 1,
      listeners: new Set<(event: AgentEvent) => void>(),
    };
    this.started.push(added);
    return added;
  }

  /** Resolves when another one may run; false if the signal was aborted before. Call `release` at its end then. */
  async enter(maxParallel: number, signal: AbortSignal): Promise<boolean> {
    while (this.running >= maxParallel && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.waiting.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      this.waiting.delete(resolve);
    }
    if (signal.aborted) return false;
    this.running += 1;
    return true;
  }

  release(): void {
    this.running -= 1;
    // In the order of their arrival: the first one takes the place, the others wait on.
    for (const resume of [...this.waiting]) resume();
  }

  /** Ends all that run. */
  stopAll(): void {
    for (const agent of this.started) if (agent.endedAtMs === undefined) agent.stop();
  }
}
