import type { ContextOptions, DiligentConfig, Model, StreamFunction } from "@diligent/core/run";
import { type ModelWishes, openModel } from "./choose-model.ts";

/**
 * The model that `compaction.model` names, opened when the first summary is due; undefined where none is named, and for a
 * session that a script plays: that has its own summaries, and asks nobody else.
 * @param model the session's own.
 * @param wrap puts around it what the session's own model has, such as the retry wrapper.
 */
export function chooseSummarizer(
  {
    cwd,
    config,
    model: { provider },
  }: Pick<ModelWishes, "cwd"> & {
    config: ModelWishes["config"] & Pick<DiligentConfig, "compaction">;
    model: Pick<Model, "provider">;
  },
  wrap: (stream: StreamFunction) => StreamFunction,
): ContextOptions["summarizer"] {
  const modelId = config.compaction?.model;
  if (modelId === undefined || (provider === "scripted" && !modelId.startsWith("scripted/")))
    return undefined;
  return async () => {
    const { model, streamFunction } = await openModel(modelId, { cwd, config });
    return { model, streamFunction: wrap(streamFunction) };
  };
}
