import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { listNames } from "../../infrastructure/fs/stat.ts";
import { nearestName } from "../../infrastructure/nearest-name.ts";
import { type Environment, now } from "../../infrastructure/runtime.ts";
import { openRecorded } from "./active-plugins.ts";
import { compareItems, describePlugin, type ItemChange, type PluginDescription } from "./describe-plugin.ts";
import { fetchRepository } from "./git-source.ts";
import { openPlugin } from "./open-plugin.ts";
import { PluginError } from "./plugin-error.ts";
import { hashFiles, openDirectory, type PluginFile, type PluginTree, writeFiles } from "./plugin-files.ts";
import { pluginDirectory } from "./plugin-paths.ts";
import { type PluginRecord, readPluginRecords, updatePluginRecords } from "./plugin-record.ts";
import { formatSource, nameOfSource, type PluginSource, parseSource } from "./plugin-source.ts";
import { selectPlugin } from "./select-plugin.ts";

export type { ItemChange, PluginItem } from "./describe-plugin.ts";
export { PluginError } from "./plugin-error.ts";

/** Where plugins are managed. */
export interface PluginPlace {
  environment: Environment;
  /** Relative paths start here. */
  cwd: string;
  signal: AbortSignal;
}

/** A plugin that was fetched and is not active yet. */
export interface PreparedPlugin {
  name: string;
  version: string | undefined;
  description: string | undefined;
  source: string;
  /** Null for a directory that is no repository. */
  commit: string | null;
  /** Everything that becomes active. */
  content: PluginDescription;
  /** Files that are marked as programs. */
  programs: string[];
  /** The form that it replaces. */
  replaces: ReplacedPlugin | undefined;
  /** True if exactly this is active already. */
  isCurrent: boolean;
  /** Makes it active, which the user has agreed to. @throws PluginError */
  activate(): Promise<void>;
  /** Removes what was fetched. */
  discard(): void;
}

/** The form of a plugin that the user has agreed to before. */
export interface ReplacedPlugin {
  commit: string | null;
  /** Why it is not active, a clause; undefined if it is. */
  reason: string | undefined;
  /** Empty if the old form cannot be read any more. */
  changes: ItemChange[];
  /** The paths of its files, those of the manifest included. */
  files: { added: string[]; removed: string[]; changed: string[] };
}

/** A plugin that the user has agreed to. */
export interface ListedPlugin {
  name: string;
  source: string;
  commit: string | null;
  /** False if its files are no longer those that the user has agreed to. */
  enabled: boolean;
  /** Why it is not enabled, a clause. */
  reason?: string;
  /** What it has, such as `2 skills`. */
  summary: string;
}

const LEFTOVER_AGE_MS = 24 * 60 * 60 * 1_000;

/**
 * Fetches a plugin, and reads what it would do. Nothing of it is run, and nothing becomes active.
 * @param selected the plugin that is meant, where there are several. @throws PluginError
 */
export async function preparePlugin(
  text: string,
  selected: string | undefined,
  place: PluginPlace,
): Promise<PreparedPlugin> {
  const source = parseSource(text, place);
  const records = await readPluginRecords(place.environment);
  const base = requireDirectory(place.environment);
  removeLeftovers(base, records);
  const staging = mkdtempSync(join(base, ".staging-"));
  try {
    const { commit, tree } = await fetchSource(source, join(staging, "repository"), place);
    const { name, files } = await selectPlugin(tree, {
      wanted: selected,
      fallbackName: nameOfSource(source),
    });
    const directory = join(staging, "plugin");
    writeFiles(directory, files);
    const record: PluginRecord = {
      ...{ name, source: formatSource(source), commit, ...(selected !== undefined && { selected }) },
      ...{ directory: "", sha256: hashFiles(files), agreedAt: "" },
    };
    const before = records.find((each) => each.name === name);
    if (before && (before.source !== record.source || before.selected !== selected))
      throw new PluginError(
        `There is a plugin ${name} already, from ${before.source}; remove it with: diligent plugins remove ${name}`,
      );
    const prepared = await describe({ record, files, directory, before, remarks: tree.remarks }, place);
    return { ...prepared, discard: () => rmSync(staging, { recursive: true, force: true }) };
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

/** Fetches the newest form of a plugin from its source. @throws PluginError also for an unknown name */
export async function prepareUpdate(name: string, place: PluginPlace): Promise<PreparedPlugin> {
  const { source, selected } = await findRecord(name, place.environment);
  const prepared = await preparePlugin(source, selected, place);
  if (prepared.name === name) return prepared;
  prepared.discard();
  throw new PluginError(`${source} has a plugin ${prepared.name} now, and none called ${name}.`);
}

/** All plugins, by name. It runs nothing. @throws PluginError if the record cannot be read */
export async function listPlugins(environment: Environment): Promise<ListedPlugin[]> {
  const records = await readPluginRecords(environment);
  return Promise.all(
    records.map(async (record) => {
      const { name, source, commit } = record;
      const opened = await openRecorded(record, environment);
      if ("reason" in opened)
        return { name, source, commit, enabled: false, reason: opened.reason, summary: "" };
      const { items } = await describePlugin(opened, environment);
      return { name, source, commit, enabled: true, summary: summarize(items) };
    }),
  );
}

/** Removes a plugin with its files. @throws PluginError for an unknown name */
export async function removePlugin(name: string, environment: Environment): Promise<void> {
  const { directory } = await findRecord(name, environment);
  await updatePluginRecords(environment, (records) => records.filter((each) => each.name !== name));
  rmSync(join(requireDirectory(environment), directory), { recursive: true, force: true });
}

async function findRecord(name: string, environment: Environment): Promise<PluginRecord> {
  const records = await readPluginRecords(environment);
  const record = records.find((each) => each.name === name);
  if (record) return record;
  const names = records.map((each) => each.name);
  const nearest = nearestName(name, names);
  const hint =
    nearest === undefined ? `the plugins are: ${names.join(", ") || "none"}` : `did you mean ${nearest}?`;
  throw new PluginError(`There is no plugin ${JSON.stringify(name)} (${hint}).`);
}

function requireDirectory(environment: Environment): string {
  const base = pluginDirectory(environment);
  if (base === undefined) throw new PluginError("There is no home directory in which plugins could be kept.");
  mkdirSync(base, { recursive: true, mode: 0o700 });
  return base;
}

/** Earlier forms, which running sessions may still use for a while, and what an interrupted call has left. */
function removeLeftovers(base: string, records: readonly PluginRecord[]): void {
  for (const name of listNames(base)) {
    const path = join(base, name);
    const age = now() - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? now());
    if (age > LEFTOVER_AGE_MS && !records.some(({ directory }) => directory === name))
      rmSync(path, { recursive: true, force: true });
  }
}

async function fetchSource(
  source: PluginSource,
  directory: string,
  { environment, cwd, signal }: PluginPlace,
): Promise<{ commit: string | null; tree: PluginTree }> {
  if (source.kind === "git") return fetchRepository(source, { environment, cwd, directory, signal });
  return { commit: null, tree: openDirectory(source.path) };
}

interface Fetched {
  record: PluginRecord;
  files: readonly PluginFile[];
  directory: string;
  before: PluginRecord | undefined;
  remarks: readonly string[];
}

async function describe(
  { record, files, directory, before, remarks }: Fetched,
  { environment }: PluginPlace,
): Promise<Omit<PreparedPlugin, "discard">> {
  const plugin = await openPlugin(directory);
  const { items, problems } = await describePlugin(plugin, environment);
  const replaces = before && (await describeReplaced(before, { files, items }, environment));
  const { name, source, commit, sha256 } = record;
  return {
    ...{ name, version: plugin.version, description: plugin.description, source, commit, replaces },
    content: { items, problems: [...problems, ...remarks] },
    programs: files.filter(({ isExecutable }) => isExecutable).map(({ path }) => path),
    isCurrent: before?.sha256 === sha256 && before.commit === commit && replaces?.reason === undefined,
    activate: () =>
      activate({ ...record, directory: `${name}-${sha256.slice(0, 16)}` }, directory, environment),
  };
}

async function describeReplaced(
  before: PluginRecord,
  after: { files: readonly PluginFile[]; items: PluginDescription["items"] },
  environment: Environment,
): Promise<ReplacedPlugin> {
  const { commit, directory } = before;
  const opened = await openRecorded(before, environment);
  if ("reason" in opened)
    return { commit, reason: opened.reason, changes: [], files: { added: [], removed: [], changed: [] } };
  const tree = openDirectory(join(requireDirectory(environment), directory));
  const old = new Map((await tree.read(tree.entries)).map((file) => [file.path, hashFiles([file])]));
  const current = new Map(after.files.map((file) => [file.path, hashFiles([file])]));
  const { items } = await describePlugin(opened, environment);
  return {
    ...{ commit, reason: undefined, changes: compareItems(items, after.items) },
    files: {
      added: [...current.keys()].filter((path) => !old.has(path)).sort(),
      removed: [...old.keys()].filter((path) => !current.has(path)).sort(),
      changed: [...current.keys()]
        .filter((path) => old.has(path) && old.get(path) !== current.get(path))
        .sort(),
    },
  };
}

async function activate(record: PluginRecord, from: string, environment: Environment): Promise<void> {
  const target = join(requireDirectory(environment), record.directory);
  // What is there has the same name, but need not have the same content any more.
  rmSync(target, { recursive: true, force: true });
  renameSync(from, target);
  await updatePluginRecords(environment, (records) => [
    ...records.filter(({ name }) => name !== record.name),
    { ...record, agreedAt: new Date(now()).toISOString() },
  ]);
}

const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  hooks: ["file with hooks", "files with hooks"],
  mcp: ["server", "servers"],
  command: ["command", "commands"],
  skill: ["skill", "skills"],
  agent: ["sub-agent", "sub-agents"],
};

function summarize(items: PluginDescription["items"]): string {
  const counts = new Map<string, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const parts = [...counts].map(([kind, count]) => `${count} ${NOUNS[kind]?.[count === 1 ? 0 : 1] ?? kind}`);
  return parts.join(", ");
}
