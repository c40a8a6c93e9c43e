import type { Model } from "../provider/types.ts";
import type { SessionLog } from "./session-log.ts";
import { findLastModelId } from "./session-tree.ts";

/** A change of model is part of the conversation: the one it goes on with may not be the one it was held with. */
export function noteModel(log: SessionLog, { id, provider }: Model): void {
  const lastModelId = findLastModelId(log.path());
  if (lastModelId === undefined || lastModelId === id) return;
  log.append((place) => ({ type: "model_change", ...place, provider, modelId: id }));
}
