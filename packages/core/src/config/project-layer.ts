import type { Environment } from "../infrastructure/runtime.ts";
import { removeInvisible } from "../infrastructure/text/unicode.ts";
import { type ConfigFile, describeDocument, describeSkipped, listSome, readProjectFile } from "./document.ts";
import type { ConfigWarning } from "./errors.ts";
import {
  interpretTrusted,
  interpretUntrusted,
  type ProjectSettings,
  type RestrictionContext,
  type UnknownModel,
  type UserLayer,
} from "./layers.ts";
import type { DiligentConfig } from "./schema.ts";
import { type ConfigLayer, isPlainObject } from "./settings.ts";
import { findTrustState, type TrustState } from "./trust.ts";
import { findTrustedProject, readTrust, type TrustedProject } from "./trust-store.ts";

/** The settings of the project's file. */
export interface ProjectLayer {
  layer?: ConfigLayer;
  trust: TrustState;
  /** True if it defines hooks, which are trusted by themselves. */
  definesHooks?: boolean | undefined;
  /** Its servers that are not started before the project is trusted. */
  untrustedServers?: DiligentConfig["mcpServers"] | undefined;
  /** The modules that it names, trusted or not. */
  extensions?: readonly string[];
  /** Settings of the file that are ignored, by name. */
  ignored: string[];
  warnings: ConfigWarning[];
}

/** What determines how much of a project's file applies; `user` is undefined without a user file. */
export interface ProjectLayerOptions {
  environment: Environment;
  user: UserLayer | undefined;
  isKnownModel: RestrictionContext["isKnownModel"];
  /** The nearest model name, for a name that no provider has. */
  findNearestModel?: ((id: string) => string | undefined) | undefined;
  /** Trust that is not saved. */
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/**
 * Reads the project's file as far as the user trusts it.
 * @throws ConfigError with all problems of the file.
 */
export async function readProjectLayer(root: string, options: ProjectLayerOptions): Promise<ProjectLayer> {
  const { environment, user } = options;
  const reading = await readProjectFile(root);
  const none: ProjectLayer = { trust: "none", ignored: [], warnings: [] };
  if (reading.kind === "none") return none;
  if (reading.kind === "refused") return { ...none, warnings: [notLoaded(reading.path, reading.reason)] };
  const { file } = reading;
  // In the user's own configuration directory, both files are the same.
  if (file.realPath === user?.realPath) return none;
  const { projects, warnings } = await readTrust(environment);
  const find = (list: readonly Pick<TrustedProject, "directory" | "items">[]) =>
    findTrustState(findTrustedProject(list, root), file);
  const isTrustedOnce = options.trustedOnce !== undefined && find([options.trustedOnce]) === "trusted";
  const trust = isTrustedOnce ? "trusted" : find(projects);
  if (file.concern !== undefined && trust !== "trusted") {
    const reason = `${file.concern}. "diligent trust" shows its content and accepts it`;
    return { trust, ignored: [], warnings: [...warnings, notLoaded(file.path, reason)] };
  }
  return { trust, ...interpret(file, { ...options, trust, warnings }) };
}

function interpret(
  file: ConfigFile,
  {
    environment,
    user,
    isKnownModel,
    findNearestModel,
    trust,
    warnings,
  }: ProjectLayerOptions & Pick<ProjectLayer, "trust" | "warnings">,
): Omit<ProjectLayer, "trust"> {
  const settings =
    trust === "trusted"
      ? interpretTrusted(file, { environment, user: user?.config ?? {} })
      : interpretUntrusted(file, { user: user?.config ?? {}, isKnownModel });
  const visible = withoutInvisible(settings.config, file.path);
  return {
    layer: { origin: file.path, config: visible.config, extended: settings.extended },
    untrustedServers: settings.untrustedServers,
    definesHooks: isPlainObject(settings.document.value) && settings.document.value.hooks !== undefined,
    extensions: settings.extensions,
    ignored: [...settings.untrusted, ...settings.unknownModels.map(({ key }) => key), ...settings.refused],
    warnings: [
      ...warnings,
      ...describeDocument(settings.document),
      ...describeSkipped(file.path, settings.skipped),
      ...settings.unknownModels.map((unknown) => describeUnknownModel(unknown, file.path, findNearestModel)),
      ...visible.warnings,
      ...describeIgnored(settings, file.path, trust),
    ],
  };
}

/** Trust would not change it: it is a mistake in the file. */
function describeUnknownModel(
  { key, id }: UnknownModel,
  path: string,
  findNearest: ProjectLayerOptions["findNearestModel"],
): ConfigWarning {
  const nearest = findNearest?.(id);
  const hint = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
  const message = `${path}: ${key}: unknown model ${JSON.stringify(id)}, which is ignored.${hint}`;
  return { code: "unknown_model", message };
}

/** One warning for all ignored settings. */
function describeIgnored(
  { untrusted, refused }: ProjectSettings,
  path: string,
  trust: TrustState,
): ConfigWarning[] {
  const parts: string[] = [];
  if (untrusted.length > 0) {
    const why =
      trust === "changed" ? "this file has changed since you trusted it" : "this project is not trusted";
    parts.push(`ignored because ${why} (see "diligent trust"): ${listSome(untrusted)}`);
  }
  if (refused.length > 0)
    parts.push(`ignored because only your own configuration can set it: ${listSome(refused)}`);
  return parts.length === 0 ? [] : [{ code: "ignored_keys", message: `${path}: ${parts.join("; ")}` }];
}

/** The model receives the same text that the user can read. */
function withoutInvisible(
  config: DiligentConfig,
  path: string,
): { config: DiligentConfig; warnings: ConfigWarning[] } {
  const { systemPrompt, instructions, ...rest } = config;
  const prompt = systemPrompt === undefined ? undefined : removeInvisible(systemPrompt);
  const listed = instructions?.map(removeInvisible);
  const removed = [prompt, ...(listed ?? [])].reduce((sum, result) => sum + (result?.removed ?? 0), 0);
  const message = `${path}: ${removed} invisible characters were removed from its instructions`;
  return {
    config: {
      ...rest,
      ...(prompt && { systemPrompt: prompt.text }),
      ...(listed && { instructions: listed.map(({ text }) => text) }),
    },
    warnings: removed === 0 ? [] : [{ code: "invisible_characters", message }],
  };
}

function notLoaded(path: string, reason: string): ConfigWarning {
  return { code: "config_not_loaded", message: `${path} is not loaded: ${reason}` };
}
