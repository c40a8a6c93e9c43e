import type { Environment } from "../../infrastructure/runtime.ts";
import type { SecretRedactor } from "../../infrastructure/text/secret-redactor.ts";
import { countOpen, findSecrets, kindOf } from "./find-secrets.ts";
import { readKnownSecrets } from "./known-secrets.ts";
import { Placeholders } from "./placeholders.ts";

/** Where secrets are looked for, and what is none. */
export interface MaskingOptions {
  environment: Environment;
  /** The root of the project, absolute. */
  root: string;
  /** Called with a sentence for the user for a file of which only the beginning is read. */
  warn?: ((message: string) => void) | undefined;
  /** Of the configuration. */
  settings: { mask?: boolean | undefined; allow?: readonly string[] | undefined } | undefined;
}

/**
 * From now on a redactor also replaces the secrets in known files, and everything that has the form or the place of a
 * secret. Does nothing if masking is switched off.
 */
export function maskSecrets(
  redactor: SecretRedactor,
  { environment, root, warn, settings: { mask = true, allow = [] } = {} }: MaskingOptions,
): void {
  if (!mask) return;
  const allowed = new Set(allow);
  const placeholders = new Placeholders(environment);
  const placeholderOf = (value: string) => placeholders.of(value, kindOf(value));
  redactor.use({ find: findSecrets, countOpen, placeholderOf, isSecret: (value) => !allowed.has(value) });
  for (const value of readKnownSecrets(root, environment, warn))
    if (!allowed.has(value)) redactor.add({ value, placeholder: placeholderOf(value) });
}
