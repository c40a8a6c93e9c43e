import type { ContextOptions, DiligentConfig, StreamFunction } from "@diligent/core/run";
import { type ModelWishes, openModel } from "./choose-model.ts";

/**
 * The model that `compaction.model` names, opened when the first summary is due; undefined where none is named.
 * @param wrap puts around it what the session's own model has, such as the retry wrapper.
 */
export function chooseSummarizer(
  {
    cwd,
    config,
  }: Pick<ModelWishes, "cwd"> & { config: ModelWishes["config"] & Pick<DiligentConfig, "compaction"> },
  wrap: (stream: StreamFunction) => StreamFunction,
): ContextOptions["summarizer"] {
  const modelId = config.compaction?.model;
  if (modelId === undefined) return undefined;
  return async () => {
    const { model, streamFunction } = await openModel(modelId, { cwd, config });
    return { model, streamFunction: wrap(streamFunction) };
  };
}
