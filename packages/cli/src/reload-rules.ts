import type { Environment, LoadOptions } from "@diligent/core/run";
import { loadConfig } from "./load-config.ts";
import type { OpenSession } from "./open-session.ts";

/**
 * Lets the rules count as the configuration files say them by now, in a session that goes on.
 * @throws UsageError when one of the files is broken: the rules are as they were then.
 */
export async function reloadRules(
  opened: Pick<OpenSession, "approval" | "cwd" | "loaded">,
  { environment, trustedOnce }: { environment: Environment } & Pick<LoadOptions, "trustedOnce">,
): Promise<void> {
  const { config, origins } = await loadConfig(opened.cwd, environment, { trustedOnce });
  const { permissions } = config;
  const { loaded } = opened;
  opened.approval.rules = permissions ?? [];
  opened.loaded = {
    ...loaded,
    config: { ...loaded.config, permissions },
    origins: { ...loaded.origins, permissions: origins.permissions ?? "default" },
  };
}
