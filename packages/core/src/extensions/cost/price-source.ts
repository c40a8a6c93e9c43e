import { computeCost } from "../../agent/cost.ts";
import { PRICE_CHECKS } from "../../provider/models/known-models.ts";
import { findKnownModel } from "../../provider/models.ts";
import type { RequestCost } from "./cost-report.ts";

/** Where the price of a request comes from, and when it was looked up; undefined if it is unknown. */
export function describePrice({
  model,
  cost,
  fresh,
  cached,
  written,
  output,
}: Pick<RequestCost, "model" | "cost" | "fresh" | "cached" | "written" | "output">): string | undefined {
  if (cost === null) return undefined;
  if (model.startsWith("scripted/")) return "the script";
  const usage = {
    inputTokens: fresh,
    cacheReadTokens: cached,
    cacheWriteTokens: written,
    outputTokens: output,
  };
  const known = findKnownModel(model);
  const check = known && PRICE_CHECKS.get(known.id);
  const isKnown = known && check && computeCost(usage, known) === cost;
  return isKnown ? `${check.source}, ${check.checked}` : "your configuration, or an earlier price";
}
