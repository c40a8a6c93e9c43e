import {
  type Environment,
  findProjectRoot,
  homeDirectory,
  readSecretValues,
  SecretRedactor,
} from "@diligent/core/light";

/**
 * Masks the keys that are configured now and the secrets of the environment where there is no session that does: in what
 * was saved before they were kept out of it, and in what is saved from the command line. A broken configuration does not
 * keep it from working.
 */
export async function openSavedRedactor(cwd: string, environment: Environment): Promise<SecretRedactor> {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  return new SecretRedactor(await readSecretValues(root, environment));
}
