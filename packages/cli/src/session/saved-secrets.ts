import {
  type Environment,
  findProjectRoot,
  homeDirectory,
  readSecretValues,
  SecretRedactor,
} from "@diligent/core/light";

/**
 * Masks the configured keys and the secrets of the environment where no session does it: in text saved before
 * the filter existed, and in text saved from the command line. A broken configuration does not stop it.
 */
export async function openSavedRedactor(cwd: string, environment: Environment): Promise<SecretRedactor> {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  return new SecretRedactor(await readSecretValues(root, environment));
}
