import type { DiligentConfig } from "./schema.ts";
import { flattenSettings, isPlainObject } from "./setting-paths.ts";

/** One layer of the configuration. `origin` says where it comes from: `default`, a path, `environment NAME`. */
export interface ConfigLayer {
  origin: string;
  config: Readonly<DiligentConfig>;
  /** Lists of this layer that hold what an earlier layer said as well. */
  extended?: readonly string[];
}

/**
 * A new configuration in which `override` wins: objects are merged to any depth, `instructions` of both are kept without
 * repeats, anything else is replaced.
 */
export function mergeConfig(
  base: Readonly<DiligentConfig>,
  override: Readonly<DiligentConfig>,
): DiligentConfig {
  const merged = mergeObjects(base, override);
  const instructions = [...new Set([...(base.instructions ?? []), ...(override.instructions ?? [])])];
  return instructions.length === 0 ? merged : { ...merged, instructions };
}

/** All layers, later ones winning, and for each setting where its value comes from. */
export function mergeLayers(layers: readonly ConfigLayer[]): {
  config: DiligentConfig;
  origins: Record<string, string>;
} {
  let config: DiligentConfig = {};
  const origins: Record<string, string> = {};
  for (const { origin, config: layer, extended = [] } of layers) {
    config = mergeConfig(config, layer);
    for (const key of flattenSettings(layer).keys()) {
      const earlier = key === "instructions" || extended.includes(key) ? origins[key] : undefined;
      origins[key] = earlier === undefined ? origin : `${earlier}, ${origin}`;
    }
  }
  return { config, origins };
}

/** A new object throughout: nothing in it is shared with `base` or `override`. */
function mergeObjects<T extends object>(base: T, override: T): T {
  const before = new Map<string, unknown>(Object.entries(base));
  const changes = Object.entries(override).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const old = before.get(name);
    if (!isPlainObject(value)) return [[name, structuredClone(value)]];
    return [[name, mergeObjects(isPlainObject(old) ? old : {}, value)]];
  });
  return Object.assign(structuredClone(base), Object.fromEntries(changes));
}
