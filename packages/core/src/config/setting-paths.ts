import { formatKey } from "./config-error.ts";

/**
 * The settings of a configuration by their full names, such as `session.autoResume`, in the order they have there.
 * Lists are one setting; objects without members are none.
 */
export function flattenSettings(config: object, path: readonly string[] = []): Map<string, unknown> {
  const settings = new Map<string, unknown>();
  for (const [name, value] of Object.entries(config)) {
    const here = [...path, name];
    if (!isPlainObject(value)) {
      if (value !== undefined) settings.set(formatKey(here), value);
      continue;
    }
    for (const [key, leaf] of flattenSettings(value, here)) settings.set(key, leaf);
  }
  return settings;
}

/** True for what is written in braces: an object that is neither null nor a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
