import type { Environment } from "../infrastructure/environment.ts";
import { ConfigError } from "./config-error.ts";
import type { ConfigFile } from "./config-file.ts";
import { type ConfigDocument, readDocument, type VariableUse } from "./document.ts";
import {
  isUserSetting,
  type RestrictionContext,
  removeUntrustedSettings,
  removeUserSettings,
} from "./restrict-project.ts";
import type { DiligentConfig } from "./schema.ts";
import { validateDocument } from "./validate.ts";

/** A file's settings with the text they were read from. */
export interface ReadConfig {
  config: DiligentConfig;
  document: ConfigDocument;
}

/** What a project's file comes to. */
export interface ProjectSettings extends ReadConfig {
  /** Would count if the project were trusted. */
  untrusted: string[];
  /** Counts from no project file. */
  refused: string[];
  /** Lists that hold the user's entries as well. */
  extended: string[];
}

/** The text as data, with variables as they are written, whether its settings are right or not. @throws ConfigError */
export function readAsWritten({ text, path }: Pick<ConfigFile, "text" | "path">): ConfigDocument {
  const reading = readDocument(text, path, { kind: "keep" });
  if ("problems" in reading) throw new ConfigError(reading.problems);
  return reading.document;
}

/** @throws ConfigError with everything that is wrong with the file. */
export function readConfig(
  { text, path }: Pick<ConfigFile, "text" | "path">,
  variables: VariableUse,
): ReadConfig {
  const reading = readDocument(text, path, variables);
  if ("problems" in reading) throw new ConfigError(reading.problems);
  const checked = validateDocument(reading.document);
  if ("problems" in checked) throw new ConfigError(checked.problems);
  return { config: checked.config, document: reading.document };
}

/** @throws ConfigError with everything that is wrong with the file. */
export function interpretTrusted(
  file: ConfigFile,
  { environment, user }: { environment: Environment; user: Readonly<DiligentConfig> },
): ProjectSettings {
  const { config, document } = readConfig(file, { kind: "fill", environment });
  const own = removeUserSettings(config, user);
  return { config: own.config, document, untrusted: [], refused: own.ignored, extended: [] };
}

/** @throws ConfigError with everything that is wrong with the file. */
export function interpretUntrusted(file: ConfigFile, context: RestrictionContext): ProjectSettings {
  const { config, document } = readConfig(file, { kind: "leave_out" });
  const own = removeUserSettings(config, context.user);
  const safe = removeUntrustedSettings(own.config, context);
  const nameInFile = (key: string) => document.spots.get(key)?.key ?? key;
  const leftOut = new Set(document.leftOut.filter((key) => !isUserSetting(key)));
  return {
    config: safe.config,
    document,
    untrusted: [...leftOut, ...safe.ignored.map(nameInFile)],
    refused: [...own.ignored.map(nameInFile), ...document.leftOut.filter(isUserSetting)],
    extended: safe.extended,
  };
}
