import { DEFAULT_MODEL, inferProvider, type LoadedConfig } from "@diligent/core/run";
import { loadCatalogue, VENDORS } from "../../choose-model.ts";
import { unknownModel } from "../../unknown-model.ts";
import { UsageError } from "../../usage-error.ts";
import { listProviders } from "../models.ts";
import type { ModelProvider } from "../models-table.ts";
import { type Check, ok, problem, warning } from "./check.ts";

const SCRIPTED_PREFIX = "scripted/";

/** Which model is looked at, and from where. */
export interface ModelQuestion {
  /** Where a script is looked for, absolute. */
  cwd: string;
  /** As given with `-m`; the configured one when left out. */
  modelId: string | undefined;
}

/** The model that would answer, and the provider it is reached at; none for a script. */
export async function checkModel(
  loaded: LoadedConfig,
  { cwd, modelId }: ModelQuestion,
): Promise<{ checks: Check[]; provider?: ModelProvider }> {
  const { provider: servers } = loaded.config;
  const id = modelId ?? loaded.config.model ?? DEFAULT_MODEL;
  try {
    if (id.startsWith(SCRIPTED_PREFIX)) {
      const { openScript } = await import("../../open-script.ts");
      await openScript(id.slice(SCRIPTED_PREFIX.length), { cwd });
      return { checks: [ok("model", `${id}, which needs no key`)] };
    }
    const catalogue = await loadCatalogue(loaded.config);
    const names = Object.keys(servers?.compatible ?? {});
    if (!catalogue.find(id) && inferProvider(id) === undefined)
      throw unknownModel(id, { catalogue, servers: names });
    const { provider: name } = catalogue.resolve(id);
    const provider = listProviders(loaded).find((each) => each.name === name);
    const checks = [ok("model", `${id} (${name})`), ...(provider ? [checkKey(provider)] : [])];
    return { checks, ...(provider && { provider }) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { checks: [problem("model", error.message)] };
  }
}

function checkKey({ name, hasKey, keyVariable }: ModelProvider): Check {
  if (hasKey) return ok("key", `there is one for ${name}`);
  if (keyVariable === undefined) return warning("key", `none for ${name}; many servers need none`);
  const keyPage = VENDORS.find((vendor) => vendor.name === name)?.keyPage;
  return problem("key", `none for ${name}`, `set ${keyVariable}${keyPage ? `; get one at ${keyPage}` : ""}`);
}
