import type { LoadedConfig } from "@diligent/core/run";
import type { CliIo } from "../../cli-io.ts";
import { loadConfig } from "../../load-config.ts";
import { UsageError } from "../../usage-error.ts";
import { type Check, ok, problem, warning } from "./check.ts";

/** What holds in a directory, and what is wrong with it. */
export async function checkConfiguration(
  cwd: string,
  { environment }: Pick<CliIo, "environment">,
): Promise<{ checks: Check[]; loaded?: LoadedConfig }> {
  try {
    const loaded = await loadConfig(cwd, environment);
    const warnings = loaded.warnings.map(({ message }) => warning("configuration", message));
    const files = loaded.sources.length === 0 ? "no file; the defaults hold" : loaded.sources.join(", ");
    return { checks: [ok("configuration", files), ...warnings], loaded };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { checks: [problem("configuration", error.message)] };
  }
}
