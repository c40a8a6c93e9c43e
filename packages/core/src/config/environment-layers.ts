import type { Environment } from "../infrastructure/environment.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { isHttpUrl } from "./http-url.ts";
import type { ConfigLayer } from "./merge.ts";
import type { DiligentConfig } from "./schema.ts";

interface Variable {
  name: string;
  isAddress?: boolean;
  toConfig(value: string): DiligentConfig;
}

const VARIABLES: readonly Variable[] = [
  { name: "ANTHROPIC_API_KEY", toConfig: (apiKey) => ({ provider: { anthropic: { apiKey } } }) },
  {
    name: "ANTHROPIC_BASE_URL",
    isAddress: true,
    toConfig: (baseUrl) => ({ provider: { anthropic: { baseUrl } } }),
  },
  { name: "OPENAI_API_KEY", toConfig: (apiKey) => ({ provider: { openai: { apiKey } } }) },
  {
    name: "OPENAI_BASE_URL",
    isAddress: true,
    toConfig: (baseUrl) => ({ provider: { openai: { baseUrl } } }),
  },
  { name: "DILIGENT_MODEL", toConfig: (model) => ({ model }) },
];

/**
 * What the environment says, one layer for each variable. Empty ones count as not set.
 * @throws ConfigError for an address that is none: the conversation would go somewhere else than was meant.
 */
export function readEnvironmentLayers(environment: Environment): ConfigLayer[] {
  const set = VARIABLES.flatMap((variable) => {
    const value = environment[variable.name]?.trim();
    return value ? [{ ...variable, value }] : [];
  });
  const problems = set
    .filter(({ isAddress, value }) => isAddress === true && !isHttpUrl(value))
    .map(({ name }): ConfigProblem => {
      return {
        source: `environment variable ${name}`,
        message: "has to be an address such as https://host/v1",
      };
    });
  if (problems.length > 0) throw new ConfigError(problems);
  return set.map(({ name, value, toConfig }) => ({ origin: `environment ${name}`, config: toConfig(value) }));
}
