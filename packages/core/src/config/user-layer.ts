import type { Environment } from "../infrastructure/environment.ts";
import { userConfigDirectory } from "../infrastructure/places/user-directories.ts";
import type { ConfigWarning } from "./config-error.ts";
import { readConfigFile } from "./config-file.ts";
import { describeDocument } from "./describe-document.ts";
import { readAsWritten, readConfig } from "./interpret-project.ts";
import { maskSetting } from "./mask-setting.ts";
import type { DiligentConfig } from "./schema.ts";
import { flattenSettings, isPlainObject } from "./setting-paths.ts";

/** The user's own configuration. */
export interface UserLayer {
  path: string;
  realPath: string;
  config: DiligentConfig;
  warnings: ConfigWarning[];
}

/**
 * Reads the user's file; undefined where there is none.
 * @throws ConfigError with everything that is wrong with it.
 */
export async function readUserLayer(environment: Environment): Promise<UserLayer | undefined> {
  const directory = userConfigDirectory(environment);
  const file = directory === undefined ? undefined : await readConfigFile(directory);
  if (file === undefined) return undefined;
  const { config, document } = readConfig(file, { kind: "fill", environment });
  const warnings = describeDocument(document);
  if (file.concern !== undefined) {
    const message = `${file.path}: others can change your configuration: ${file.concern}`;
    warnings.push({ code: "config_not_private", message });
  }
  if (file.isOpenToOthers && holdsSecret(readAsWritten(file).value)) {
    const message = `${file.path} holds a key and can be read by others; chmod 600 keeps it to you`;
    warnings.push({ code: "config_not_private", message });
  }
  return { path: file.path, realPath: file.realPath, config, warnings };
}

/** True when a key itself is written there, not only the name of a variable that holds it. */
function holdsSecret(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  return [...flattenSettings(value)].some(
    ([key, setting]) => typeof setting === "string" && maskSetting(key, setting) !== setting,
  );
}
