import { now } from "../infrastructure/clock.ts";
import { type Environment, homeDirectory, processEnvironment } from "../infrastructure/environment.ts";
import { isGitWorktree } from "../infrastructure/places/git-head.ts";
import { findProjectRoot } from "../infrastructure/places/project-root.ts";
import type { ConfigWarning } from "./config-error.ts";
import { type ConfigFile, readProjectFile } from "./config-file.ts";
import { interpretTrusted, interpretUntrusted, readAsWritten } from "./interpret-project.ts";
import { maskSetting } from "./mask-setting.ts";
import { flattenSettings, isPlainObject } from "./setting-paths.ts";
import { readTrust, type TrustedItem, type TrustedProject, updateTrust } from "./trust-store.ts";
import { readUserLayer } from "./user-layer.ts";

/**
 * Where a project stands. `changed`: it was trusted, and says something else now. `none`: there is nothing to trust.
 */
export type TrustState = "none" | "untrusted" | "changed" | "trusted";

/** A setting as text to show: keys are masked, variables not filled in. */
export interface ShownSetting {
  key: string;
  value: string;
}

/** A setting that is not what it was when the project was trusted; a missing side was not there. */
export interface ChangedSetting {
  key: string;
  before?: string;
  after?: string;
}

/** What trusting a project would mean. `trustProject` records exactly what stands here, whatever the files say by then. */
export interface TrustDescription {
  /** The exact directory, real. */
  directory: string;
  /** True for a git worktree, which is trusted for itself: not the repository, and no other worktree of it. */
  isWorktree: boolean;
  state: TrustState;
  /** The configuration file, where there is one that could be loaded. */
  path?: string;
  /** What is ignored without trust and becomes active with it. */
  activates: ShownSetting[];
  /** What stays ignored all the same. */
  refused: string[];
  /** Against what was trusted before; empty unless `state` is `changed`. */
  changes: ChangedSetting[];
  /** What is recorded. */
  items: TrustedItem[];
  warnings: ConfigWarning[];
}

/** What decides which settings need trust. */
export interface TrustOptions {
  /** True for an id or alias of a model of Anthropic's or OpenAI's own. Left out: ids with a prefix of theirs only. */
  isKnownModel?: ((id: string) => boolean) | undefined;
}

/**
 * Says what trusting the project around `cwd` would make active. Nothing is changed.
 * @throws ConfigError when the project's or the user's configuration is broken.
 */
export async function describeTrust(
  cwd: string,
  environment: Environment = processEnvironment(),
  { isKnownModel = () => false }: TrustOptions = {},
): Promise<TrustDescription> {
  const directory = findProjectRoot(cwd, homeDirectory(environment));
  const { projects, warnings } = await readTrust(environment);
  const isWorktree = isGitWorktree(directory);
  const empty = {
    directory,
    isWorktree,
    state: "none" as const,
    activates: [],
    refused: [],
    changes: [],
    items: [],
  };
  const reading = await readProjectFile(directory);
  if (reading.kind === "none") return { ...empty, warnings };
  if (reading.kind === "refused") {
    const message = `${reading.path} is not loaded: ${reading.reason}`;
    return { ...empty, warnings: [...warnings, { code: "config_not_loaded", message }] };
  }
  const { file } = reading;
  const record = projects.find((project) => project.directory === directory);
  const state = findTrustState(record, file);
  const settings = showSettings(readAsWritten(file).value);
  if (file.concern !== undefined) {
    const message = `${file.path}: somebody else could have written this: ${file.concern}`;
    warnings.push({ code: "config_not_private", message });
  }
  return {
    directory,
    isWorktree,
    state,
    path: file.path,
    ...(await describeEffect(file, { environment, isKnownModel })),
    changes: state === "changed" ? compareSettings(findConfigItem(record)?.settings ?? {}, settings) : [],
    items: [{ kind: "config", path: file.name, sha256: file.sha256, settings }],
    warnings,
  };
}

/**
 * Records that the user trusts what `description` says, for this directory and this content.
 * @throws Error when it cannot be recorded: without a home directory, or where the file that is there is damaged.
 */
export async function trustProject(
  { directory, items }: Pick<TrustDescription, "directory" | "items">,
  environment: Environment = processEnvironment(),
): Promise<void> {
  const project = { directory, trustedAt: new Date(now()).toISOString(), items };
  await updateTrust(environment, (projects) => [
    ...projects.filter((other) => other.directory !== directory),
    project,
  ]);
}

/**
 * Forgets the trust in the project around `cwd`, in whatever state its files are.
 * @returns the directory, and whether it had been trusted.
 * @throws Error when it cannot be recorded: without a home directory, or where the file that is there is damaged.
 */
export async function untrustProject(
  cwd: string,
  environment: Environment = processEnvironment(),
): Promise<{ directory: string; wasTrusted: boolean }> {
  const directory = findProjectRoot(cwd, homeDirectory(environment));
  const { projects, warnings } = await readTrust(environment);
  const isListed = projects.some((project) => project.directory === directory);
  // A damaged file has to be told of, not taken for an empty one.
  if (!isListed && warnings.length === 0) return { directory, wasTrusted: false };
  await updateTrust(environment, (current) => current.filter((project) => project.directory !== directory));
  return { directory, wasTrusted: true };
}

/** Trust holds for the exact content of the file that was shown. */
export function findTrustState(
  record: Pick<TrustedProject, "items"> | undefined,
  { name, sha256 }: Pick<ConfigFile, "name" | "sha256">,
): TrustState {
  const item = findConfigItem(record);
  if (item === undefined) return record === undefined ? "untrusted" : "changed";
  return item.path === name && item.sha256 === sha256 ? "trusted" : "changed";
}

function findConfigItem(record: Pick<TrustedProject, "items"> | undefined): TrustedItem | undefined {
  return record?.items.find(({ kind }) => kind === "config");
}

async function describeEffect(
  file: ConfigFile,
  { environment, isKnownModel }: { environment: Environment; isKnownModel: (id: string) => boolean },
): Promise<Pick<TrustDescription, "activates" | "refused">> {
  const user = (await readUserLayer(environment))?.config ?? {};
  // Read as it would be once it is trusted, so that what is broken then is told now.
  const { config, refused } = interpretTrusted(file, { environment, user });
  const { untrusted } = interpretUntrusted(file, { user, isKnownModel });
  const { spots } = readAsWritten(file);
  const activates = untrusted.map((key) => ({ key, value: showValue(key, spots.get(key)?.value) }));
  if (config.permissions !== undefined && user.permissions !== undefined) {
    activates.push({ key: "permissions", value: "the whole list, in place of your own rules" });
  }
  return { activates, refused };
}

function showSettings(value: unknown): Record<string, string> {
  const settings = isPlainObject(value) ? [...flattenSettings(value)] : [];
  return Object.fromEntries(settings.map(([key, setting]) => [key, showValue(key, setting)]));
}

function showValue(key: string, value: unknown): string {
  return JSON.stringify(maskSetting(key, value)) ?? "";
}

function compareSettings(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): ChangedSetting[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].sort().flatMap((key) => {
    const [old, current] = [before[key], after[key]];
    if (old === current) return [];
    return [
      { key, ...(old !== undefined && { before: old }), ...(current !== undefined && { after: current }) },
    ];
  });
}
