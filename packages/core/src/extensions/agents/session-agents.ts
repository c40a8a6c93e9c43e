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
  stop(): void;
}

/** The sub-agents of one session: how many may run, and what each does. */
export class SessionAgents {
  private readonly started: SessionAgent[] = [];
  private running = 0;
  private readonly waiting = new Set<() => void>();
  /** What the model can choose from. */
  definitions: readonly AgentDefinition[] = [];
  /** The sub-agents that the session had in earlier runs of the program; undefined until somebody has counted them. */
  earlierCount: number | undefined;

  /** Oldest first. */
  get list(): readonly SessionAgent[] {
    return this.started;
  }

  get count(): number {
    return (this.earlierCount ?? 0) + this.started.length;
  }

  /** The sub-agent whose session has this id. */
  findBySession(sessionId: string): SessionAgent | undefined {
    return this.started.find(({ session }) => session?.sessionId === sessionId);
  }

  add(agent: Omit<SessionAgent, "number">): SessionAgent {
    const added = { ...agent, number: this.started.length + 1 };
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
