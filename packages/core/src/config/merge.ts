import { type DiligentConfig, DiligentConfigSchema } from "./schema.ts";
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
  // Parsed again for its type, which merging by names cannot give; two valid layers are valid together.
  return DiligentConfigSchema.parse(instructions.length === 0 ? merged : { ...merged, instructions });
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

function mergeObjects(base: object, override: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(override)) {
    if (value === undefined) continue;
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    merged[name] = isPlainObject(before) && isPlainObject(value) ? mergeObjects(before, value) : value;
  }
  return merged;
}
