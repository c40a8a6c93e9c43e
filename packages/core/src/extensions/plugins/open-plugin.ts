import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DefinitionDirectory, DefinitionKind, Plugin, PluginSettings } from "../definitions/plugin.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { MANIFEST_PATH, type PluginManifest, parseManifest, toPaths } from "./manifest.ts";
import { PluginError } from "./plugin-error.ts";

/** A plugin with what its manifest says about itself. */
export interface OpenedPlugin extends Plugin {
  version: string | undefined;
  description: string | undefined;
}

/** What of Claude Code's layout is not used. */
const UNUSED: Readonly<Record<string, string>> = {
  "output-styles": "output styles",
  ".lsp.json": "language servers",
  monitors: "monitors",
  themes: "themes",
};

/**
 * Reads the layout of the plugin in a directory; of its definitions, only hooks and servers are read. Nothing is run.
 * @param directory with a manifest. @throws PluginError if the manifest cannot be used.
 */
export async function openPlugin(directory: string): Promise<OpenedPlugin> {
  const root = realpathSync(directory);
  const manifest = parseManifest(await readText(root, MANIFEST_PATH));
  const { name } = manifest;
  const problems: string[] = [];
  const place = { name, root, problems };
  const hooks = await readSettings(manifest.hooks, "hooks/hooks.json", place);
  const servers = await readSettings(manifest.mcpServers, ".mcp.json", place);
  const directories = {
    skills: findDirectories("skills", manifest, place),
    commands: findDirectories("commands", manifest, place),
    agents: findDirectories("agents", manifest, place),
  };
  for (const [path, what] of Object.entries(UNUSED))
    if (statSync(join(root, path), { throwIfNoEntry: false })) problems.push(`Its ${what} are not used.`);
  return {
    ...{ name, root, directories, problems, servers },
    hooks: hooks.map(({ source, value }) => ({ source, value: withoutWrapper(value) })),
    version: manifest.version,
    description: manifest.description,
  };
}

interface PluginPlace {
  name: string;
  root: string;
  problems: string[];
}

/** The usual directory, and what the manifest names in addition: directories, or one file or skill each. */
function findDirectories(
  kind: DefinitionKind,
  manifest: PluginManifest,
  { name, root, problems }: PluginPlace,
): DefinitionDirectory[] {
  const plugin = { name, root };
  const named = toPaths(manifest[kind]);
  const paths = [...new Set([kind, ...named])];
  return paths.flatMap((path): DefinitionDirectory[] => {
    const full = join(root, path);
    const stats = statSync(full, { throwIfNoEntry: false });
    if (!stats) {
      if (named.includes(path)) problems.push(`It names ${path}, which does not exist.`);
      return [];
    }
    const isSkill = kind === "skills" && statSync(join(full, "SKILL.md"), { throwIfNoEntry: false });
    const common = { boundary: root, plugin };
    if (stats.isDirectory() && !isSkill) return [{ path: full, shown: join(name, path), ...common }];
    const only = basename(full);
    return [{ path: dirname(full), shown: join(name, dirname(path)), only, ...common }];
  });
}

/** The usual file and those that the manifest names, or what it says itself. */
async function readSettings(
  written: PluginManifest["hooks"],
  usual: string,
  { name, root, problems }: PluginPlace,
): Promise<PluginSettings[]> {
  const isInline = typeof written === "object" && !Array.isArray(written);
  const named = isInline ? [] : toPaths(written);
  const inline = isInline ? [{ source: join(name, MANIFEST_PATH), value: written }] : [];
  const files: PluginSettings[] = [];
  for (const path of new Set([usual, ...named])) {
    const reading = await readDefinition(join(root, path), { boundary: root });
    const source = join(name, path);
    if (reading.kind === "missing") {
      if (named.includes(path)) problems.push(`It names ${path}, which does not exist.`);
    } else if (reading.kind === "refused") problems.push(`${source} is not read: ${reading.reason}.`);
    else {
      const value = parseJson(reading.text);
      if (value === undefined) problems.push(`${source} is not valid JSON.`);
      else files.push({ source, value });
    }
  }
  return [...files, ...inline];
}

function parseJson(text: string): unknown {
  try {
    return Bun.JSONC.parse(text);
  } catch {
    return undefined; // Reported as a file that is not used.
  }
}

/** A file has the events below `hooks`, beside a description. */
function withoutWrapper(value: unknown): unknown {
  return typeof value === "object" && value !== null && "hooks" in value ? value.hooks : value;
}

async function readText(root: string, path: string): Promise<string> {
  const reading = await readDefinition(join(root, path), { boundary: root });
  if (reading.kind === "text") return reading.text;
  throw new PluginError(
    reading.kind === "missing" ? `It has no ${path}.` : `${path} is not read: ${reading.reason}.`,
  );
}
