import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DiligentConfig } from "../../config/schema.ts";

/** The files of a project that may hold hooks, relative to its root. */
export const HOOK_FILES: readonly string[] = [".claude/settings.json", ".claude/settings.local.json"];

/** True if there may be hooks; no file is read. */
export function mayHaveHooks(root: string, config: Pick<DiligentConfig, "hooks">): boolean {
  return config.hooks !== undefined || HOOK_FILES.some((name) => existsSync(join(root, name)));
}
