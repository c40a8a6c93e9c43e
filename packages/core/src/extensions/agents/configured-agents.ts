import type { DiligentConfig } from "../../config/schema.ts";
import { BUILT_IN_AGENTS } from "./built-in.ts";
import type { AgentDefinition } from "./definition.ts";

/** Without files: the built-in ones and those of the configuration. */
export function configuredAgents(config: Pick<DiligentConfig, "agents">): AgentDefinition[] {
  return applyAgentSettings(BUILT_IN_AGENTS, config);
}

/** The sub-agents as the configuration changes, removes and adds them. */
export function applyAgentSettings(
  agents: readonly AgentDefinition[],
  { agents: settings = {} }: Pick<DiligentConfig, "agents">,
): AgentDefinition[] {
  const changed = agents.flatMap((agent) => {
    const setting = settings[agent.name];
    if (setting === false) return [];
    return [setting === undefined ? agent : withSetting(agent, setting)];
  });
  const names = new Set(agents.map(({ name }) => name));
  const added = Object.entries(settings).flatMap(([name, setting]) =>
    setting === false || names.has(name) || !setting.description
      ? []
      : [
          withSetting(
            {
              name,
              description: setting.description,
              prompt: "",
              extendsBase: true,
              source: "configuration",
              tools: {},
            },
            setting,
          ),
        ],
  );
  return [...changed, ...added];
}

type AgentSetting = Exclude<NonNullable<DiligentConfig["agents"]>[string], false>;

function withSetting(agent: AgentDefinition, { tools, ...setting }: AgentSetting): AgentDefinition {
  const given = Object.fromEntries(Object.entries(setting).filter(([, value]) => value !== undefined));
  return { ...agent, ...given, ...(tools && { tools: { ...agent.tools, allowed: tools } }) };
}
