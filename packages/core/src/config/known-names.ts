import { configJsonSchema } from "./json-schema.ts";
import { isPlainObject } from "./setting-paths.ts";

/** Made once, and only when something is wrong. */
let knownSettings: { schema: unknown; keys: readonly string[] } | undefined;

function getKnownSettings(): { schema: unknown; keys: readonly string[] } {
  if (knownSettings === undefined) {
    const schema = configJsonSchema();
    knownSettings = { schema, keys: listNames(schema, "") };
  }
  return knownSettings;
}

/** The names that the object at `path` may have; empty where any name will do. */
export function findKnownNames(path: readonly PropertyKey[]): string[] {
  return Object.keys(propertiesOf(path.reduce(step, getKnownSettings().schema)));
}

/** The full names of all settings that end in this name, case aside; for a setting that stands in the wrong place. */
export function findSettingsNamed(name: string): string[] {
  const wanted = name.toLowerCase();
  return getKnownSettings().keys.filter((key) => key.toLowerCase().endsWith(`.${wanted}`));
}

function step(schema: unknown, part: PropertyKey): unknown {
  if (!isPlainObject(schema)) return undefined;
  if (typeof part === "number") return schema.items;
  const properties = propertiesOf(schema);
  const name = String(part);
  return Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  if (!isPlainObject(schema)) return {};
  if (isPlainObject(schema.properties)) return schema.properties;
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  return Object.assign({}, ...branches.map(propertiesOf));
}

function listNames(schema: unknown, prefix: string): string[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, child]) => {
    const key = prefix === "" ? name : `${prefix}.${name}`;
    return [key, ...listNames(child, key)];
  });
}
