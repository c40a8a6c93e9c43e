import {
  type Environment,
  findEnvironmentValues,
  findProjectRoot,
  homeDirectory,
  mayContainKey,
  readSecretValues,
  SecretRedactor,
} from "@diligent/core/light";

/**
 * Masks the configured keys and the secrets of the environment where no session does it: in text saved before
 * the filter existed, and in text saved from the command line. A broken configuration does not stop it.
 */
export function openSavedRedactor(cwd: string, environment: Environment): SecretRedactor {
  const root = findProjectRoot(cwd, homeDirectory(environment));
  return new SecretRedactor(readSecretValues(root, environment));
}

/**
 * The same, which also finds what only looks like a secret: for texts that are shown, copied or indexed as a whole. It
 * knows no configuration, so that neither `secrets.mask` nor `secrets.allow` counts.
 */
export async function openMaskingRedactor(cwd: string, environment: Environment): Promise<SecretRedactor> {
  const redactor = openSavedRedactor(cwd, environment);
  const { maskSecrets } = await import("@diligent/core/secrets");
  const root = findProjectRoot(cwd, homeDirectory(environment));
  maskSecrets(redactor, { environment, root, settings: undefined });
  return redactor;
}

/**
 * Masks the same, but reads the configuration only when a text has something in it that could be a key: a list of
 * ordinary names depends on no configuration and does not wait for one.
 */
export class LazyRedactor {
  private redactor: SecretRedactor;
  private isComplete = false;

  constructor(
    private readonly cwd: string,
    private readonly environment: Environment,
  ) {
    this.redactor = new SecretRedactor(findEnvironmentValues(environment));
  }

  redact<T>(value: T): T {
    return this.openFor(value).redact(value);
  }

  redactPart(text: string): string {
    return this.openFor(text).redactPart(text);
  }

  private openFor(value: unknown): SecretRedactor {
    if (!this.isComplete && (typeof value !== "string" || mayContainKey(value))) {
      this.redactor = openSavedRedactor(this.cwd, this.environment);
      this.isComplete = true;
    }
    return this.redactor;
  }
}
