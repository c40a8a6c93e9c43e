import type { LoadedConfig } from "../config/loader.ts";
import type { TrustDescription } from "../config/trust.ts";
import type { ProjectTrust, ProjectTrustOptions, TrustKind } from "../config/trust-items.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { isKnownModel } from "./load-config.ts";

/**
 * Every kind of definitions in a project that needs trust. To add one: a `TrustKind` in the folder that uses the
 * definitions, a line here that loads it, and `ProjectTrust.selectTrusted` where they take effect.
 */
export const TRUST_KINDS: readonly (() => Promise<TrustKind>)[] = [
  async () => (await import("../extensions/skills/trust.ts")).SKILL_TRUST,
  async () => (await import("../extensions/mcp/project-file.ts")).SERVER_TRUST,
  async () => (await import("../extensions/prompt-commands/trust.ts")).COMMAND_TRUST,
  async () => (await import("../extensions/agents/find-agents.ts")).AGENT_TRUST,
  async () => (await import("../extensions/hooks/find-hooks.ts")).HOOK_TRUST,
  async () => (await import("../extensions/modules/find-modules.ts")).EXTENSION_TRUST,
  async () => (await import("../extensions/rules/find-rules.ts")).RULE_TRUST,
  async () => (await import("../extensions/language-servers/find-servers.ts")).LANGUAGE_SERVER_TRUST,
];

/** The trust in the project of a configuration, for a harness or a list. */
export async function openProjectTrust(
  { projectRoot }: Pick<LoadedConfig, "projectRoot">,
  { environment, trustedOnce }: Pick<ProjectTrustOptions, "environment" | "trustedOnce">,
): Promise<ProjectTrust> {
  const { ProjectTrust } = await import("../config/trust-items.ts");
  return new ProjectTrust({ root: projectRoot, environment, trustedOnce });
}

/**
 * Describes what trusting the project around `cwd` would activate, of every kind. Nothing is changed.
 * @throws ConfigError when the project's or the user's configuration is invalid.
 */
export async function describeProjectTrust(cwd: string, environment: Environment): Promise<TrustDescription> {
  const kinds = await Promise.all(TRUST_KINDS.map((load) => load()));
  const { describeTrust } = await import("../config/trust.ts");
  return describeTrust(cwd, environment, { isKnownModel, kinds });
}
