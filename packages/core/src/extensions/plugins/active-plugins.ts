import { join } from "node:path";
import type { Environment } from "../../infrastructure/runtime.ts";
import type { ActivePlugins, InactivePlugin, Plugin } from "../definitions/plugin.ts";
import { openPlugin } from "./open-plugin.ts";
import { PluginError } from "./plugin-error.ts";
import { checkEntries, hashFiles, openDirectory } from "./plugin-files.ts";
import { pluginDirectory } from "./plugin-paths.ts";
import { type PluginRecord, readPluginRecords } from "./plugin-record.ts";

/** The plugins whose files are still those that the user has agreed to. It reads files and runs nothing. Never throws. */
export async function findPlugins(environment: Environment): Promise<ActivePlugins> {
  try {
    const records = await readPluginRecords(environment);
    const found = await Promise.all(records.map((record) => openRecorded(record, environment)));
    return {
      active: found.flatMap((each) => ("reason" in each ? [] : [each])),
      inactive: found.flatMap((each) => ("reason" in each ? [each] : [])),
      problems: [],
    };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    return { active: [], inactive: [], problems: [error.message] };
  }
}

/** The plugin of a record, if its files are unchanged. */
export async function openRecorded(
  { name, directory, sha256 }: PluginRecord,
  environment: Environment,
): Promise<Plugin | InactivePlugin> {
  const base = pluginDirectory(environment);
  if (base === undefined) return { name, reason: "there is no home directory" };
  const path = join(base, directory);
  try {
    const tree = openDirectory(path);
    checkEntries(tree.entries);
    if (hashFiles(await tree.read(tree.entries)) !== sha256)
      return { name, reason: "its files have changed since you agreed to them" };
    const plugin = await openPlugin(path);
    return plugin.name === name ? plugin : { name, reason: `it is called ${plugin.name} now` };
  } catch (error) {
    return { name, reason: error instanceof Error ? error.message.replace(/\.$/, "") : "it cannot be read" };
  }
}
