import { loadDiligentConfig } from "../../src/config/loader.ts";
import { openLanguageServers } from "../../src/extensions/language-servers/extension.ts";
import { DEFAULT_LIMITS } from "../../src/extensions/language-servers/language-server.ts";
import { openProjectTrust } from "../../src/harness/trust.ts";
import { BUSY_MS } from "./busy-machine.ts";
import { createServerStage, type ServerStage } from "./mcp-stage.ts";

/** A stage on which the results of edits wait for language servers for as long as a busy machine needs. */
export function createPatientStage(): ServerStage {
  return createServerStage({}, async ({ project, environment }) => {
    const loaded = await loadDiligentConfig(project, environment);
    const limits = { waitMs: DEFAULT_LIMITS.waitMs + BUSY_MS };
    const trust = () => openProjectTrust(loaded, { environment });
    return [await openLanguageServers({ loaded, environment, trust, limits })];
  });
}
