import type { FindPrice } from "@diligent/core/cost";
import { loadCatalog, loadConfig } from "@diligent/core/harness";
import { type Environment, findKnownModel } from "@diligent/core/run";
import { UsageError } from "../errors.ts";

/** The prices of the known models and of those that the configuration of a directory states. */
export async function openPrices(cwd: string, environment: Environment): Promise<FindPrice> {
  try {
    const { config } = await loadConfig(cwd, environment);
    const catalog = await loadCatalog(config);
    return (modelId) => catalog.find(modelId);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // A broken configuration keeps nobody from seeing what was spent.
    return findKnownModel;
  }
}
