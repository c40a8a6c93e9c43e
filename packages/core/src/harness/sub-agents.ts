import { decideApproval } from "../approval/policy.ts";
import { withAssignedPrompts } from "../extensions/agents/assigned-prompt.ts";
import { configuredAgents } from "../extensions/agents/configured-agents.ts";
import type { AgentDefinition } from "../extensions/agents/definition.ts";
import type { FoundAgents } from "../extensions/agents/find-agents.ts";
import { AGENT_LIMITS, type AgentLimits } from "../extensions/agents/session-agents.ts";
import { createTaskTool } from "../extensions/agents/task-tool.ts";
import { AGENT_LOCATIONS, hasDefinitions } from "../extensions/definitions/directories.ts";
import { homeDirectory } from "../infrastructure/runtime.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import type { ExtensionPlace } from "./extensions.ts";
import type { GateDecision, HarnessExtension, Notice, SessionScope } from "./types.ts";

// In a smaller window, there is no room for the tool's description.
const LEAST_WINDOW = 16_000;

/** Lets the model of a session give tasks to sub-agents. */
export async function openSubAgents(place: ExtensionPlace): Promise<HarnessExtension> {
  const { config } = place.loaded;
  const limits: AgentLimits = { ...AGENT_LIMITS, ...withoutUndefined(config.agentLimits ?? {}) };
  const { agents: definitions, skipped } = await listAgents(place);
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
        prepareOpening: () => import("./child-session.ts"),
        open: (call) => place.openAgent(sessionOf(scope), call),
      });
      agents.isOffered = true;
      return {
        tools: [tool],
        notices: agent ? [] : describeSkippedAgents(skipped.length),
        wrapRequests: (stream) => withAssignedPrompts(stream, agents),
      };
    },
    close() {},
  };
}

/** Where definitions are looked for. */
type AgentPlace = Pick<ExtensionPlace, "cwd" | "environment" | "loaded" | "trust" | "plugins">;

/** The sub-agents for a place, those of its project that wait for trust, and the files that define none. */
export async function listAgents({ cwd, environment, loaded, ...place }: AgentPlace): Promise<FoundAgents> {
  const { config, projectRoot: root } = loaded;
  const { active: plugins } = await place.plugins();
  const here = { cwd, root, environment, plugins };
  // Most projects have no files with definitions, and then their reader is not loaded.
  if (!hasDefinitions(here, AGENT_LOCATIONS))
    return { agents: configuredAgents(config), waiting: [], skipped: [] };
  const { findAgents } = await import("../extensions/agents/find-agents.ts");
  return findAgents({ ...here, config, trust: await place.trust() });
}

function describeSkippedAgents(count: number): Notice[] {
  if (count === 0) return [];
  const what = count === 1 ? "1 file with a sub-agent is" : `${count} files with sub-agents are`;
  const message = `${what} not used; "diligent agents list" says why`;
  return [{ level: "info", code: "agents_not_loaded", message }];
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
