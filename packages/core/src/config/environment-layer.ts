import type { Environment } from "../infrastructure/runtime.ts";
import { isHttpUrl } from "../infrastructure/urls.ts";
import { ConfigError, type ConfigProblem } from "./errors.ts";
import type { DiligentConfig } from "./schema.ts";
import type { ConfigLayer } from "./settings.ts";

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
 * The settings of the environment, one layer for each variable. Empty variables count as not set. @throws ConfigError
 * for an invalid address: data would be sent to the wrong place.
 */
export function readEnvironmentLayers(environment: Environment): ConfigLayer[] {
  const problems = readSetVariables(environment)
    .filter(({ isAddress, value }) => isAddress === true && !isHttpUrl(value))
    .map(({ name }): ConfigProblem => {
      return {
        source: `environment variable ${name}`,
        message: "must be an address such as https://host/v1",
      };
    });
  if (problems.length > 0) throw new ConfigError(problems);
  return toEnvironmentLayers(environment);
}

/** The same without looking at the addresses. */
export function toEnvironmentLayers(environment: Environment): ConfigLayer[] {
  return readSetVariables(environment).map(({ name, value, toConfig }) => ({
    origin: `environment ${name}`,
    config: toConfig(value),
  }));
}

function readSetVariables(environment: Environment): (Variable & { value: string })[] {
  return VARIABLES.flatMap((variable) => {
    const value = environment[variable.name]?.trim();
    return value ? [{ ...variable, value }] : [];
  });
}
