import { configuredAgents } from "../agents/configured-agents.ts";
import type { AgentDefinition } from "../agents/definition.ts";
import { AGENT_LIMITS, type AgentLimits } from "../agents/session-agents.ts";
import { createTaskTool } from "../agents/task-tool.ts";
import { decideApproval } from "../approval/policy.ts";
import { homeDirectory } from "../infrastructure/runtime.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import type { ExtensionPlace } from "./extensions.ts";
import type { GateDecision, HarnessExtension, SessionScope } from "./types.ts";

// In a smaller window, there is no room for the tool's description.
const LEAST_WINDOW = 16_000;

/** Lets the model of a session give tasks to sub-agents. */
export async function openSubAgents(place: ExtensionPlace): Promise<HarnessExtension> {
  const { config } = place.loaded;
  const limits: AgentLimits = { ...AGENT_LIMITS, ...withoutUndefined(config.agentLimits ?? {}) };
  const definitions = configuredAgents(config);
  return {
    name: "agents",
    gate: (request) => limitRequest(request, definitions, place),
    openSession(scope) {
      const { agent, contextWindow, cwd, jobs } = scope;
      const agents = place.agentsOf(scope.sessionId);
      agents.definitions = definitions;
      const isDeepest = (agent?.depth ?? 0) >= limits.maxDepth;
      if (isDeepest || contextWindow < LEAST_WINDOW || definitions.length === 0) return {};
      const tool = createTaskTool({
        agents,
        limits,
        cwd,
        jobs,
        session: scope.session,
        open: (call) => place.openAgent(sessionOf(scope), call),
      });
      return { tools: [tool] };
    },
    close() {},
  };
}

function sessionOf({ session }: SessionScope) {
  const opened = session();
  if (opened) return opened;
  throw new Error("The session is not open yet.");
}

function withoutUndefined(
  limits: Partial<Record<keyof AgentLimits, number | undefined>>,
): Partial<AgentLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** A definition may narrow what its sub-agent may do, in addition to everything that holds for the session. */
async function limitRequest(
  request: ApprovalRequest,
  definitions: readonly AgentDefinition[],
  { cwd, environment, loaded }: ExtensionPlace,
): Promise<GateDecision | undefined> {
  const name = request.agent?.name;
  const { rules } = definitions.find((each) => each.name === name) ?? {};
  if (rules === undefined) return undefined;
  const home = homeDirectory(environment);
  const context = { root: loaded.projectRoot, cwd, home, environment, rules, mode: "ask" as const };
  const { action, gate } = await decideApproval(request, context);
  if (gate !== "rule" || action === "allow") return undefined;
  return {
    action,
    reason: `the definition of the sub-agent ${name} ${action === "deny" ? "forbids" : "asks for"} it`,
  };
}
