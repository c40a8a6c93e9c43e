import { normalize } from "node:path";
import { z } from "zod";
import { PluginError } from "./plugin-error.ts";

/** The manifest of a plugin, relative to its root. */
export const MANIFEST_PATH = ".claude-plugin/plugin.json";

/** The list of the plugins in a repository, relative to its root. */
export const MARKETPLACE_PATH = ".claude-plugin/marketplace.json";

const PathsSchema = z.union([z.string(), z.array(z.string()).max(1_000)]).optional();
const SettingsSchema = z
  .union([z.string(), z.array(z.string()).max(100), z.record(z.string(), z.unknown())])
  .optional();

const ComponentsSchema = z.looseObject({
  version: z.string().optional(),
  description: z.string().optional(),
  commands: PathsSchema,
  agents: PathsSchema,
  skills: PathsSchema,
  hooks: SettingsSchema,
  mcpServers: SettingsSchema,
});

const ManifestSchema = ComponentsSchema.extend({ name: z.string() });

const MarketplaceSchema = z.looseObject({
  plugins: z.array(
    ManifestSchema.extend({
      source: z.union([z.string(), z.record(z.string(), z.unknown())]),
      /** False: the entry is the manifest, too. */
      strict: z.boolean().optional(),
    }),
  ),
  metadata: z.looseObject({ pluginRoot: z.string().optional() }).optional(),
});

/** What a plugin has besides what lies in the usual directories. */
export type PluginManifest = z.infer<typeof ManifestSchema>;

/** A plugin of a repository with several. */
export type MarketplaceEntry = z.infer<typeof MarketplaceSchema>["plugins"][number];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
// `/skill:NAME` and `/prompts:NAME` mean something else.
const RESERVED = ["skill", "prompts"];

/** @throws PluginError for a text that cannot be part of a command's name. */
export function checkPluginName(name: string): string {
  if (NAME.test(name) && !RESERVED.includes(name)) return name;
  throw new PluginError(
    `${JSON.stringify(name)} is no name for a plugin: use 1 to 64 letters, digits, dots, hyphens and underscores.`,
  );
}

/** @throws PluginError that names the file and what is wrong. */
export function parseManifest(text: string): PluginManifest {
  const manifest = parse(ManifestSchema, text, MANIFEST_PATH);
  checkPluginName(manifest.name);
  return manifest;
}

/** The plugins that a repository lists, with paths from its root. @throws PluginError */
export function parseMarketplace(text: string): MarketplaceEntry[] {
  const { plugins, metadata } = parse(MarketplaceSchema, text, MARKETPLACE_PATH);
  const base = metadata?.pluginRoot;
  return plugins.map((entry) => {
    const { source } = entry;
    const isRelative = typeof source === "string" && !source.startsWith("./") && base !== undefined;
    return isRelative ? { ...entry, source: `${base}/${source}` } : entry;
  });
}

function parse<T>(schema: z.ZodType<T>, text: string, path: string): T {
  let value: unknown;
  try {
    value = Bun.JSONC.parse(text.replace(/^\ufeff/, ""));
  } catch {
    throw new PluginError(`${path} is not valid JSON.`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.path.map(String).join(".") ?? "";
  throw new PluginError(
    `${path}: ${key === "" ? "it must be an object" : `${JSON.stringify(key)} is invalid`}.`,
  );
}

/** A path in a manifest, relative to the plugin; empty for the plugin itself. @throws PluginError for one outside of it. */
export function toPluginPath(written: string): string {
  const path = normalize(written.trim())
    .replace(/^\.?\/+$|^\.$/, "")
    .replace(/\/+$/, "");
  const isOutside = /^\s*[/~]/.test(written) || path === ".." || path.startsWith("../");
  if (isOutside || written.includes("\0"))
    throw new PluginError(`It names the path ${JSON.stringify(written)}, which is outside of the plugin.`);
  return path;
}

/** The paths of one kind of definitions. */
export function toPaths(written: string | readonly string[] | undefined): string[] {
  const paths = typeof written === "string" ? [written] : (written ?? []);
  return paths.map(toPluginPath);
}
