import {
  checkPluginName,
  MANIFEST_PATH,
  MARKETPLACE_PATH,
  type MarketplaceEntry,
  type PluginManifest,
  parseManifest,
  parseMarketplace,
  toPluginPath,
} from "./manifest.ts";
import { PluginError } from "./plugin-error.ts";
import { checkEntries, type PluginEntry, type PluginFile, type PluginTree } from "./plugin-files.ts";

/** The files of one plugin, with a manifest. */
export interface SelectedPlugin {
  name: string;
  files: PluginFile[];
}

/** Which plugin of a source is meant. */
interface Selection {
  /** Of several in one repository. */
  wanted: string | undefined;
  /** The name of a plugin without a manifest. */
  fallbackName: string;
}

// A manifest is small; a marketplace lists up to some hundred plugins.
const MAX_JSON_BYTES = 4 * 1024 * 1024;
const PARTS = /^(?:skills|commands|agents)\/.|^hooks\/hooks\.json$|^\.mcp\.json$/;

/**
 * Finds the plugin in a tree, and reads its files: the tree itself, or one of those that its marketplace lists.
 * @throws PluginError if no plugin was found, or if several were.
 */
export async function selectPlugin(tree: PluginTree, selection: Selection): Promise<SelectedPlugin> {
  const listed = await readJson(tree, MARKETPLACE_PATH);
  const entry = listed === undefined ? undefined : await findEntry(parseMarketplace(listed), tree, selection);
  if (entry === undefined && selection.wanted !== undefined && listed === undefined)
    throw new PluginError(`It has no ${MARKETPLACE_PATH}, so there is only one plugin in it.`);
  const prefix = entry === undefined ? "" : toPrefix(entry);
  const own = tree.entries.filter(({ path }) => path.startsWith(prefix));
  const entries = own.map((each) => ({ ...each, path: each.path.slice(prefix.length) }));
  checkEntries(entries);
  const text = await readJson(tree, prefix + MANIFEST_PATH);
  const manifest = toManifest(text, entry, { entries, selection });
  // The content of each file, under its path in the plugin.
  const read = (await tree.read(own)).map((file) => ({ ...file, path: file.path.slice(prefix.length) }));
  const files = read.filter(({ path }) => path !== MANIFEST_PATH);
  return { name: manifest.name, files: [...files, toFile(manifest, read)] };
}

async function findEntry(
  entries: readonly MarketplaceEntry[],
  tree: PluginTree,
  { wanted }: Selection,
): Promise<MarketplaceEntry | undefined> {
  if (wanted !== undefined) {
    const found = entries.find(({ name }) => name === wanted);
    if (found) return found;
    throw new PluginError(
      `There is no plugin ${JSON.stringify(wanted)} in it; it has ${listNames(entries)}.`,
    );
  }
  if (tree.entries.some(({ path }) => path === MANIFEST_PATH)) return undefined;
  const [only, ...others] = entries;
  if (only && others.length === 0) return only;
  throw new PluginError(`It lists several plugins; choose one with --plugin NAME: ${listNames(entries)}.`);
}

function listNames(entries: readonly MarketplaceEntry[]): string {
  const shown = entries.slice(0, 50).map(({ name }) => name.slice(0, 64));
  return `${shown.join(", ") || "none"}${entries.length > shown.length ? ", …" : ""}`;
}

/** Where the plugin lies in the repository. */
function toPrefix({ name, source }: MarketplaceEntry): string {
  if (typeof source !== "string")
    throw new PluginError(
      `The plugin ${name} lies elsewhere; add it with: diligent plugins add ${describeSource(source)}`,
    );
  const path = toPluginPath(source);
  return path === "" ? "" : `${path}/`;
}

function describeSource({ repo, url, ref }: Readonly<Record<string, unknown>>): string {
  const address =
    typeof repo === "string" ? `https://github.com/${repo}` : typeof url === "string" ? url : "URL";
  return typeof ref === "string" ? `${address}@${ref}` : address;
}

function toManifest(
  text: string | undefined,
  entry: MarketplaceEntry | undefined,
  { entries, selection }: { entries: readonly PluginEntry[]; selection: Selection },
): PluginManifest {
  const { source: _, strict, ...listed } = entry ?? { source: "", name: "" };
  const own = text === undefined ? undefined : parseManifest(text);
  if (own) return entry && strict === false ? { ...own, ...listed } : own;
  if (entry) return { ...listed, name: checkPluginName(entry.name) };
  if (entries.some(({ path }) => PARTS.test(path)) || entries.some(({ path }) => path === MANIFEST_PATH))
    return { name: checkPluginName(selection.fallbackName) };
  throw new PluginError(
    "There is no plugin in it: neither .claude-plugin/plugin.json nor skills, commands, agents, hooks or servers.",
  );
}

/** The manifest as it was found, or one that says what was found elsewhere. */
function toFile(manifest: PluginManifest, read: readonly PluginFile[]): PluginFile {
  const found = read.find(({ path }) => path === MANIFEST_PATH);
  const content = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
  const isSame = found !== undefined && Bun.deepEquals(parseManifest(decode(found)), manifest);
  return isSame
    ? found
    : { path: MANIFEST_PATH, kind: "file", isExecutable: false, size: content.length, content };
}

async function readJson(tree: PluginTree, path: string): Promise<string | undefined> {
  const entry = tree.entries.find((each) => each.path === path);
  if (entry === undefined) return undefined;
  if (entry.kind === "link") throw new PluginError(`${path} is a link.`);
  if (entry.size > MAX_JSON_BYTES) throw new PluginError(`${path} is larger than ${MAX_JSON_BYTES} bytes.`);
  const [file] = await tree.read([entry]);
  return file && decode(file);
}

function decode({ content }: PluginFile): string {
  return new TextDecoder().decode(content);
}
