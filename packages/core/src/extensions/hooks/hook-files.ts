import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../../config/loader.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";

/** The files of a project that may hold hooks besides its configuration, relative to its root. */
export const HOOK_FILES: readonly string[] = [".claude/settings.json", ".claude/settings.local.json"];

/** The settings of the user for Claude Code, which may hold hooks; undefined without a home directory. */
export function findUserHookFile(environment: Environment): string | undefined {
  const home = homeDirectory(environment);
  const directory = environment.CLAUDE_CONFIG_DIR || (home === undefined ? undefined : join(home, ".claude"));
  return directory === undefined ? undefined : join(directory, "settings.json");
}

/** True if there may be hooks; no file is read. */
export function mayHaveHooks(
  { projectRoot, config, definesHooks }: Pick<LoadedConfig, "projectRoot" | "config" | "definesHooks">,
  environment: Environment,
): boolean {
  if (config.hooks !== undefined || definesHooks) return true;
  const files = [...HOOK_FILES.map((name) => join(projectRoot, name)), findUserHookFile(environment)];
  return files.some((path) => path !== undefined && existsSync(path));
}
