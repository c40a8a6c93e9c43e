import type { Environment } from "../infrastructure/environment.ts";

const VARIABLE = /\{env:([^{}]+)\}/g;

/** True when an `{env:NAME}` stands in the text. */
export function holdsVariable(text: string): boolean {
  return text.search(VARIABLE) !== -1;
}

/**
 * Puts the values of environment variables in place of `{env:NAME}`. One that is not set becomes empty and is handed to
 * `onUnset`. Values are taken as they are: an `{env:…}` in one of them stays.
 */
export function substituteVariables(
  text: string,
  environment: Environment,
  onUnset: (name: string) => void,
): string {
  return text.replace(VARIABLE, (_, written: string) => {
    const name = written.trim();
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value === undefined) onUnset(name);
    return value ?? "";
  });
}
