import { join } from "node:path";
import { z } from "zod";
import { resolvePaths } from "../infrastructure/diligent-dir.ts";
import { updatePrivateFile } from "../infrastructure/fs/private-files.ts";
import { type FileReading, readCheckedFile } from "../infrastructure/fs/read.ts";
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
import { userStateDirectory } from "../infrastructure/paths/user.ts";
import { type Environment, homeDirectory, now, processEnvironment } from "../infrastructure/runtime.ts";
import { type ConfigFile, readProjectFile } from "./document.ts";
import type { ConfigWarning } from "./errors.ts";
import { interpretTrusted, interpretUntrusted, readAsWritten, readUserLayer } from "./layers.ts";
import { flattenSettings, isPlainObject, maskSetting } from "./settings.ts";

/** The trust state of a project. `changed`: it was trusted with other content. `none`: there is nothing to trust. */
export type TrustState = "none" | "untrusted" | "changed" | "trusted";

/** A setting as text for display: keys are masked, variables not replaced. */
export interface ShownSetting {
  key: string;
  value: string;
}

/** A setting that differs from the trusted state; a missing side did not exist. */
export interface ChangedSetting {
  key: string;
  before?: string;
  after?: string;
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
  /** Changes since the project was trusted; empty unless `state` is `changed`. */
  changes: ChangedSetting[];
  /** The content that trust is saved for. */
  items: TrustedItem[];
  warnings: ConfigWarning[];
}

/** What determines which settings need trust. */
export interface TrustOptions {
  /** True for an id or alias of a model of Anthropic or OpenAI; by default only ids with one of their prefixes. */
  isKnownModel?: ((id: string) => boolean) | undefined;
}

/**
 * Describes what trusting the project around `cwd` would activate. Nothing is changed.
 * @throws ConfigError when the project's or the user's configuration is invalid.
 */
export async function describeTrust(
  cwd: string,
  environment: Environment = processEnvironment(),
  { isKnownModel = () => false }: TrustOptions = {},
): Promise<TrustDescription> {
  const directory = findProjectRoot(cwd, homeDirectory(environment));
  const { projects, warnings } = await readTrust(environment);
  const record = projects.find((project) => project.directory === directory);
  const parts = [
    await describeConfigTrust({ directory, record, warnings }, { environment, isKnownModel }),
    describeKnowledgeTrust({ directory, record, warnings }, environment),
  ];
  const waiting = parts.find(({ state }) => state === "changed" || state === "untrusted");
  const path = parts.find((part) => part.path !== undefined)?.path;
  return {
    directory,
    isWorktree: isGitWorktree(directory),
    state: waiting?.state ?? parts.find(({ state }) => state === "trusted")?.state ?? "none",
    ...(path !== undefined && { path }),
    activates: parts.flatMap(({ activates }) => activates),
    refused: parts.flatMap(({ refused }) => refused),
    changes: parts.flatMap(({ changes }) => changes),
    items: parts.flatMap(({ items }) => items),
    warnings,
  };
}

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
  const wasWithoutConfig = record === undefined || record.items.some(({ kind }) => kind === "knowledge");
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
  const { config, refused } = interpretTrusted(file, { environment, user });
  const { untrusted } = interpretUntrusted(file, { user, isKnownModel });
  const { locations } = readAsWritten(file);
  const activates = untrusted.map((key) => ({ key, value: showValue(key, locations.get(key)?.value) }));
  if (config.permissions !== undefined && user.permissions !== undefined) {
    activates.push({ key: "permissions", value: "the whole list, replacing your own rules" });
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

const VERSION = 1;
const MAX_BYTES = 16 * 1024 * 1024;

const TrustedItemSchema = z.looseObject({
  /**
   * `config` is the project's configuration file, `knowledge` its knowledge file; later versions may add other kinds.
   */
  kind: z.string(),
  /** Relative to the project root. */
  path: z.string(),
  /** Of the whole content, hexadecimal. */
  sha256: z.string(),
  /** The settings when it was trusted, as they were shown. */
  settings: z.record(z.string(), z.string()).optional(),
});

const TrustedProjectSchema = z.looseObject({
  /** The exact real path; a directory below it or another worktree is another project. */
  directory: z.string(),
  trustedAt: z.string(),
  items: z.array(TrustedItemSchema),
});

const TrustFileSchema = z.looseObject({
  version: z.literal(VERSION),
  projects: z.array(TrustedProjectSchema),
});

/** A file that was trusted, with its hash and settings. */
export type TrustedItem = z.infer<typeof TrustedItemSchema>;
/** A trusted directory with the trusted content. */
export type TrustedProject = z.infer<typeof TrustedProjectSchema>;
type TrustFile = z.infer<typeof TrustFileSchema>;

/** `trust.json` in the user's state directory; undefined without a home directory. */
function findTrustFile(environment: Environment): string | undefined {
  const directory = userStateDirectory(environment);
  return directory === undefined ? undefined : join(directory, "trust.json");
}

/**
 * Reads all trusted projects. A file that is unreadable, damaged or possibly written by another user counts as empty,
 * with a warning.
 */
export async function readTrust(
  environment: Environment,
): Promise<{ projects: readonly TrustedProject[]; warnings: ConfigWarning[] }> {
  const path = findTrustFile(environment);
  if (path === undefined) return { projects: [], warnings: [] };
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  if (reading.kind === "missing") return { projects: [], warnings: [] };
  try {
    return { projects: parseReading(reading).projects, warnings: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${path}: no project is trusted because this file cannot be used: ${reason}`;
    return { projects: [], warnings: [{ code: "trust_file", message }] };
  }
}

/**
 * Changes the list of trusted projects atomically, without losing concurrent changes by other processes.
 * @throws Error if there is no home directory, or if the existing file is damaged; it is unchanged then.
 */
export async function updateTrust(
  environment: Environment,
  change: (projects: readonly TrustedProject[]) => TrustedProject[],
): Promise<void> {
  const path = findTrustFile(environment);
  if (path === undefined) throw new Error("Trust cannot be saved: there is no home directory.");
  const reading = await readCheckedFile(path, MAX_BYTES + 1);
  try {
    // Rewriting a file that another user may have written would make it the user's own.
    if (reading.kind !== "missing") parseReading(reading);
    await updatePrivateFile(path, (content) => {
      const file = content === undefined ? { version: VERSION, projects: [] } : parseTrustFile(content);
      const changed = { ...file, projects: change(file.projects) };
      return new TextEncoder().encode(`${JSON.stringify(changed, null, 2)}\n`);
    });
  } catch (error) {
    if (!(error instanceof TrustFileError)) throw error;
    throw new Error(`${path} was not changed: ${error.message}. Fix or delete it, then try again.`, {
      cause: error,
    });
  }
}

/** The file is unusable; `message` is the reason. */
class TrustFileError extends Error {
  override name = "TrustFileError";
}

function parseReading(reading: Exclude<FileReading, { kind: "missing" }>): TrustFile {
  if (reading.kind === "unreadable") throw new TrustFileError(reading.reason);
  if (reading.file.concern !== undefined) throw new TrustFileError(reading.file.concern);
  return parseTrustFile(reading.file.content);
}

function parseTrustFile(content: Uint8Array): TrustFile {
  if (content.length > MAX_BYTES) throw new TrustFileError(`it is larger than ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(content));
  } catch (error) {
    throw new TrustFileError("it is not valid JSON", { cause: error });
  }
  const parsed = TrustFileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TrustFileError(`"${issue?.path.map(String).join(".") ?? ""}" is invalid`);
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
    const record = projects.find(({ directory }) => directory === root);
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
  await updateTrust(environment, (projects) =>
    projects.map((project) => {
      const isTrusted =
        project.directory === root && findKnowledgeState(project, readKnowledgeContent(root)) === "trusted";
      if (!isTrusted) return project;
      append();
      return withKnowledge(project, readKnowledgeContent(root));
    }),
  );
}
