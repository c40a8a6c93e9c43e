import { loadConfig } from "@diligent/core/harness";
import { type Environment, SecretRedactor } from "@diligent/core/run";

/**
 * Masks what a session file may still hold from before secrets were kept out of it: the keys that are configured now, and the
 * secrets of the environment.
 * @throws UsageError when a configuration file is broken: its keys could not be masked.
 */
export async function openSavedRedactor(cwd: string, environment: Environment): Promise<SecretRedactor> {
  const { secrets } = await loadConfig(cwd, environment);
  return new SecretRedactor(secrets);
}
