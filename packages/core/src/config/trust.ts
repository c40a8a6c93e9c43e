import { resolvePaths } from "../infrastructure/diligent-dir.ts";
import { isGitWorktree } from "../infrastructure/paths/git.ts";
import {
  findKnowledgeOrigin,
  markOwnKnowledge,
  readKnowledgeContent,
} from "../infrastructure/paths/knowledge.ts";
import {
  KNOWLEDGE_PATH_IN_PROJECT,
  type KnowledgeContent,
  knowledgeFilePath,
} from "../infrastructure/paths/knowledge-file.ts";
import { findProjectRoot } from "../infrastructure/paths/project.ts";
import { type Environment, homeDirectory, now, processEnvironment } from "../infrastructure/runtime.ts";
import { type ConfigFile, readProjectFile } from "./document.ts";
import type { ConfigWarning } from "./errors.ts";
import { interpretTrusted, interpretUntrusted, readAsWritten, readUserLayer } from "./layers.ts";
import {
  type ChangedSetting,
  compareSettings,
  flattenSettings,
  isPlainObject,
  maskSetting,
} from "./settings.ts";
import { describeItems, type TrustKind, type WaitingItem } from "./trust-items.ts";
import {
  findTrustedProject,
  readTrust,
  type TrustedItem,
  type TrustedProject,
  updateTrust,
} from "./trust-store.ts";

/** The trust state of a project. `changed`: it was trusted with other content. `none`: there is nothing to trust. */
export type TrustState = "none" | "untrusted" | "changed" | "trusted";

/** A setting as text for display: keys are masked, variables not replaced. */
export interface ShownSetting {
  key: string;
  value: string;
}

/**
 * What trusting a project would mean. `trustProject` records exactly this, even if the files have changed by then.
 */
export interface TrustDescription {
  /** The exact directory, real. */
  directory: string;
  /** True for a git worktree, which is trusted separately from the repository and its other worktrees. */
  isWorktree: boolean;
  state: TrustState;
  /** The configuration file, if one could be loaded. */
  path?: string;
  /** The settings that trust activates. */
  activates: ShownSetting[];
  /** The settings that stay ignored even with trust. */
  refused: string[];
  /** Changed settings since the project was trusted; empty unless `state` is `changed`. */
  changes: ChangedSetting[];
  /** The definitions that trust activates, such as skills; those that are trusted already are not listed. */
  waiting: WaitingItem[];
  /** The content that trust is saved for. */
  items: TrustedItem[];
  warnings: ConfigWarning[];
}

/** What determines which settings need trust. */
export interface TrustOptions {
  /** True for an id or alias of a model of Anthropic or OpenAI; by default only ids with one of their prefixes. */
  isKnownModel?: ((id: string) => boolean) | undefined;
  /** The kinds of definitions to look for; none when left out. */
  kinds?: readonly TrustKind[] | undefined;
}

/**
 * Describes what trusting the project around `cwd` would activate. Nothing is changed.
 * @throws ConfigError when the project's or the user's configuration is invalid.
 */
export async function describeTrust(
  cwd: string,
  environment: Environment = processEnvironment(),
  { isKnownModel = () => false, kinds = [] }: TrustOptions = {},
): Promise<TrustDescription> {
  const directory = findProjectRoot(cwd, homeDirectory(environment));
  const { projects, warnings } = await readTrust(environment);
  const record = findTrustedProject(projects, directory);
  const parts = [
    await describeConfigTrust({ directory, record, warnings }, { environment, isKnownModel }),
    describeKnowledgeTrust({ directory, record, warnings }, environment),
  ];
  const definitions = await describeItems(kinds, { root: directory, environment }, record);
  warnings.push(...definitions.warnings);
  const { waiting } = definitions;
  const states = [
    ...parts.map(({ state }) => state),
    ...waiting.map(({ state }) => state),
    ...(definitions.items.length > waiting.length ? ["trusted" as const] : []),
  ];
  const path = parts.find((part) => part.path !== undefined)?.path;
  return {
    directory,
    isWorktree: isGitWorktree(directory),
    state: STATES_BY_URGENCY.find((state) => states.includes(state)) ?? "none",
    ...(path !== undefined && { path }),
    activates: parts.flatMap(({ activates }) => activates),
    refused: parts.flatMap(({ refused }) => refused),
    changes: parts.flatMap(({ changes }) => changes),
    waiting,
    items: [...parts.flatMap(({ items }) => items), ...definitions.items],
    warnings,
  };
}

const STATES_BY_URGENCY = ["changed", "untrusted", "trusted"] as const;

/** The contribution of one file to the description. */
type TrustPart = Pick<TrustDescription, "state" | "path" | "activates" | "refused" | "changes" | "items">;

const NO_PART: TrustPart = { state: "none", activates: [], refused: [], changes: [], items: [] };

/** The project to describe; `warnings` is appended to. */
interface DescribedProject {
  directory: string;
  record: TrustedProject | undefined;
  warnings: ConfigWarning[];
}

async function describeConfigTrust(
  { directory, record, warnings }: DescribedProject,
  options: { environment: Environment; isKnownModel: (id: string) => boolean },
): Promise<TrustPart> {
  const reading = await readProjectFile(directory);
  if (reading.kind === "none") return NO_PART;
  if (reading.kind === "refused") {
    const message = `${reading.path} is not loaded: ${reading.reason}`;
    warnings.push({ code: "config_not_loaded", message });
    return NO_PART;
  }
  const { file } = reading;
  const state = findTrustState(record, file);
  const settings = showSettings(readAsWritten(file).value);
  if (file.concern !== undefined) {
    const message = `${file.path}: another user could have written this: ${file.concern}`;
    warnings.push({ code: "config_not_private", message });
  }
  return {
    state,
    path: file.path,
    ...(await describeEffect(file, options)),
    changes: state === "changed" ? compareSettings(findConfigItem(record)?.settings ?? {}, settings) : [],
    items: [{ kind: "config", path: file.name, sha256: file.sha256, settings }],
  };
}

function describeKnowledgeTrust(
  { directory, record, warnings }: DescribedProject,
  environment: Environment,
): TrustPart {
  const origin = findKnowledgeOrigin(directory, environment);
  if (origin === "none" || origin === "own") return NO_PART;
  try {
    const content = readKnowledgeContent(directory);
    const { lineCount } = content;
    const value = `${lineCount} ${lineCount === 1 ? "line" : "lines"}, sent to the model in every session`;
    return {
      ...NO_PART,
      state: findKnowledgeState(record, content),
      activates: [{ key: KNOWLEDGE_PATH_IN_PROJECT, value }],
      items: [toKnowledgeItem(content)],
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warnings.push({
      code: "knowledge_not_loaded",
      message: `${KNOWLEDGE_PATH_IN_PROJECT} is not used: ${reason}`,
    });
    return NO_PART;
  }
}

/** Trust in knowledge applies to its exact content, and to the entries that diligent appends. */
export function findKnowledgeState(
  record: Pick<TrustedProject, "items"> | undefined,
  { sha256 }: Pick<KnowledgeContent, "sha256">,
): "untrusted" | "changed" | "trusted" {
  const item = record?.items.find(({ kind }) => kind === "knowledge");
  if (item === undefined) return "untrusted";
  return item.sha256 === sha256 ? "trusted" : "changed";
}

/** The record with the current knowledge in place of the trusted one. */
export function withKnowledge(project: TrustedProject, content: KnowledgeContent): TrustedProject {
  const others = project.items.filter(({ kind }) => kind !== "knowledge");
  return { ...project, items: [...others, toKnowledgeItem(content)] };
}

function toKnowledgeItem({ sha256 }: KnowledgeContent): TrustedItem {
  return { kind: "knowledge", path: KNOWLEDGE_PATH_IN_PROJECT, sha256 };
}

/**
 * Saves the user's trust in the content of `description`, for this directory and this content.
 * @throws Error when it cannot be saved: without a home directory, or when the existing file is damaged.
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
 * Revokes the trust in the project around `cwd`, whatever the state of its files.
 * @returns the directory, and whether it had been trusted.
 * @throws Error when it cannot be saved: without a home directory, or when the existing file is damaged.
 */
export async function untrustProject(
  cwd: string,
  environment: Environment = processEnvironment(),
): Promise<{ directory: string; wasTrusted: boolean }> {
  const directory = findProjectRoot(cwd, homeDirectory(environment));
  const { projects, warnings } = await readTrust(environment);
  const isListed = projects.some((project) => project.directory === directory);
  // A damaged file must be reported, not treated as empty.
  if (!isListed && warnings.length === 0) return { directory, wasTrusted: false };
  await updateTrust(environment, (current) => current.filter((project) => project.directory !== directory));
  return { directory, wasTrusted: true };
}

/** Trust applies to the exact content of the file that was shown. */
export function findTrustState(
  record: Pick<TrustedProject, "items"> | undefined,
  { name, sha256 }: Pick<ConfigFile, "name" | "sha256">,
): TrustState {
  const item = findConfigItem(record);
  // Trusted for something else than a configuration.
  const wasWithoutConfig = record === undefined || record.items.some(({ kind }) => kind !== "config");
  if (item === undefined) return wasWithoutConfig ? "untrusted" : "changed";
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
  // Read as a trusted file, so that errors are reported now.
  const { refused } = interpretTrusted(file, { environment, user });
  const { untrusted } = interpretUntrusted(file, { user, isKnownModel });
  const { locations } = readAsWritten(file);
  const activates = untrusted.map((key) => ({ key, value: showValue(key, locations.get(key)?.value) }));
  return { activates, refused };
}

function showSettings(value: unknown): Record<string, string> {
  const settings = isPlainObject(value) ? [...flattenSettings(value)] : [];
  return Object.fromEntries(settings.map(([key, setting]) => [key, showValue(key, setting)]));
}

function showValue(key: string, value: unknown): string {
  return JSON.stringify(maskSetting(key, value)) ?? "";
}

/**
 * Whether the project's knowledge is used. `own`: written on this machine. `once`: trusted until the program ends.
 * `untrusted` and `changed`: it is not sent to the model, and nothing is added to it. `none`: there is none yet.
 */
export type KnowledgeTrust =
  | { state: "none" | "own" | "trusted" }
  | { state: "once"; trustedOnce: Pick<TrustedProject, "directory" | "items"> }
  /** The message is one line for the user: the reason, and what to do. */
  | { state: "untrusted" | "changed"; message: string };

/** The project, and the trust that is not saved. */
export interface KnowledgeTrustOptions {
  /** Absolute and real. */
  root: string;
  environment: Environment;
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/** Never throws: unreadable knowledge is not trusted. */
export async function readKnowledgeTrust({
  root,
  environment,
  trustedOnce,
}: KnowledgeTrustOptions): Promise<KnowledgeTrust> {
  const origin = findKnowledgeOrigin(root, environment);
  if (origin === "none" || origin === "own") return { state: origin };
  const path = knowledgeFilePath(resolvePaths(root).knowledge);
  try {
    const content = readKnowledgeContent(root);
    const { projects } = await readTrust(environment);
    const record = findTrustedProject(projects, root);
    const state = findKnowledgeState(record, content);
    if (state === "trusted") return { state };
    const isOnce = trustedOnce?.directory === root && findKnowledgeState(trustedOnce, content) === "trusted";
    if (isOnce) return { state: "once", trustedOnce };
    return { state, message: `${path} is not used: ${explain(state, origin)}. ${REMEDY}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { state: "untrusted", message: `Knowledge of earlier sessions is not used: ${reason}` };
  }
}

const REMEDY = '"diligent knowledge" shows its content, "diligent trust" accepts it.';

function explain(state: "untrusted" | "changed", origin: "tracked" | "foreign"): string {
  if (state === "changed") return "it has changed since you trusted it";
  return origin === "tracked"
    ? "git tracks it, so others may have written it"
    : "nothing shows that it was written on this machine";
}

/**
 * Appends to the knowledge file: if the line's file counts as the user's own, it still does afterwards; if the user
 * trusts it in its current state, the trust covers the new line.
 * @throws Error with a message for the user and the model when the file is not trusted, or when the trust cannot be
 * saved.
 */
export async function guardKnowledgeAppend(
  { root, environment }: Pick<KnowledgeTrustOptions, "root" | "environment">,
  firstLine: string,
  append: () => void,
): Promise<void> {
  const origin = findKnowledgeOrigin(root, environment);
  if (origin === "none") markOwnKnowledge(environment, firstLine);
  if (origin === "none" || origin === "own") {
    append();
    return;
  }
  const trust = await readKnowledgeTrust({ root, environment });
  if (trust.state !== "trusted")
    throw new Error(`Nothing was written. ${"message" in trust ? trust.message : ""}`);
  await updateTrust(environment, (projects) => {
    const record = findTrustedProject(projects, root);
    return projects.map((project) => {
      const isTrusted =
        project === record && findKnowledgeState(project, readKnowledgeContent(root)) === "trusted";
      if (!isTrusted) return project;
      append();
      return withKnowledge(project, readKnowledgeContent(root));
    });
  });
}
