import { existsSync } from "node:fs";
import { join } from "node:path";
import { userDataDirectory, userStateDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { ActivePlugins } from "../definitions/plugin.ts";

/** The file that records what the user has agreed to, beside the other decisions; undefined without a home directory. */
export function pluginRecordPath(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory && join(directory, "plugins.json");
}

/** The directory with the files of plugins, one directory each; undefined without a home directory. */
export function pluginDirectory(environment: Environment): string | undefined {
  const directory = userDataDirectory(environment);
  return directory && join(directory, "plugins");
}

/** True if the user has or had plugins; no file is read. */
export function mayHavePlugins(environment: Environment): boolean {
  const path = pluginRecordPath(environment);
  return path !== undefined && existsSync(path);
}

/** The user's plugins. Without any, their reader is not loaded. */
export async function readPlugins(environment: Environment): Promise<ActivePlugins> {
  if (!mayHavePlugins(environment)) return { active: [], inactive: [], problems: [] };
  return (await import("./active-plugins.ts")).findPlugins(environment);
}
