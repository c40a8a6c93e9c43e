import type { LoadedConfig } from "./loader.ts";
import { flattenSettings, maskSetting } from "./settings.ts";

/** One effective setting of the configuration, ready to be shown. */
export interface DescribedSetting {
  /** Such as `compaction.pruning.keepLast`. */
  key: string;
  /** JSON data; keys are masked. */
  value: unknown;
  /** `default`, a file's path, `environment NAME`, or several separated by commas. */
  origin: string;
}

/** Every setting that has a value, sorted by name. */
export function describeConfig({
  config,
  origins,
}: Pick<LoadedConfig, "config" | "origins">): DescribedSetting[] {
  return [...flattenSettings(config)]
    .map(([key, value]) => ({ key, value: maskSetting(key, value), origin: origins[key] ?? "default" }))
    .sort((left, right) => (left.key < right.key ? -1 : 1));
}
