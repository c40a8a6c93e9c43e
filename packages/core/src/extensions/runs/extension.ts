import type { AgentEvent } from "../../agent/types.ts";
import type { HarnessExtension, SessionAddition, SessionScope } from "../../harness/types.ts";
import { now } from "../../infrastructure/runtime.ts";
import { OwnRun } from "./run-record.ts";

/** Lets other processes see which sessions are open; those of sub-agents are part of the one that has started them. */
export function createRuns(): HarnessExtension {
  return {
    name: "runs",
    openSession: (scope) => (scope.agent ? {} : noteRun(scope)),
    close() {},
  };
}

function noteRun({ sessionId: id, root: project, environment, model }: SessionScope): SessionAddition {
  const startedAtMs = now();
  const first = { id, project, model: model().id, state: "idle" as const, cost: 0, startedAtMs };
  const run = new OwnRun(environment, first);
  return {
    onEvent(event) {
      if (event.type === "agent_start") run.change({ state: "working", model: model().id });
      else if (event.type === "agent_end") run.change({ state: "idle" });
      else if (event.type === "approval_request") run.change({ state: "waiting" });
      else if (event.type === "tool_end" || event.type === "tool_update") run.change({ state: "working" });
      const spent = costOf(event);
      if (spent !== undefined)
        run.change({ cost: run.cost === null || spent === null ? null : run.cost + spent });
    },
    close: () => run.remove(),
  };
}

function costOf(event: AgentEvent): number | null | undefined {
  if (event.type === "agent_event") return costOf(event.event);
  return event.type === "usage" ? event.cost : undefined;
}
