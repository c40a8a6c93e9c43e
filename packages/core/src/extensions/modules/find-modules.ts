import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readProjectFile } from "../../config/document.ts";
import { ConfigError } from "../../config/errors.ts";
import { readAsWritten } from "../../config/layers.ts";
import type { TrustItem, TrustKind } from "../../config/trust-items.ts";
import { userConfigDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import { readDefinition } from "../definitions/read-definition.ts";

/** A module that is to be loaded. */
export interface FoundModule {
  /** Absolute. */
  path: string;
  /** As it was written, for people. */
  shown: string;
  /** True for one of the user, which may also allow what would be asked about. */
  isUsers: boolean;
  /** Changes with its files, so that a changed one is loaded anew; undefined for one of the user. */
  version?: string | undefined;
}

/** A module that is not loaded, and why: a clause without a full stop. */
export interface SkippedModule {
  shown: string;
  reason: string;
}

/** The modules of the user's configuration; relative paths begin at its directory. */
export function findUserModules(paths: readonly string[], environment: Environment): FoundModule[] {
  const base = userConfigDirectory(environment);
  const home = homeDirectory(environment);
  return paths.map((shown) => {
    const full = home !== undefined && /^~(?:\/|$)/.test(shown) ? home + shown.slice(1) : shown;
    return { path: resolve(base ?? "/", full), shown: revealInvisible(shown), isUsers: true };
  });
}

/** A module of the project, as the user decides about it. */
interface ModuleItem extends TrustItem {
  module: FoundModule;
}

const MAX_FILES = 200;

/** Reads the modules of a project with everything that they import. Nothing is run. */
export async function readProjectModules(
  root: string,
  paths: readonly string[],
): Promise<{ items: ModuleItem[]; skipped: SkippedModule[] }> {
  const read = await Promise.all([...new Set(paths)].map((path) => readModule(root, path)));
  return {
    items: read.flatMap((each) => ("reason" in each ? [] : [each])),
    skipped: read.flatMap((each) => ("reason" in each ? [each] : [])),
  };
}

async function readModule(root: string, written: string): Promise<ModuleItem | SkippedModule> {
  const shown = revealInvisible(written);
  if (isAbsolute(written) || written.startsWith("~"))
    return { shown, reason: "an extension of a project is named by its path from the project root" };
  const entry = resolve(root, written);
  const hashes = new Map<string, string>();
  const waiting = [entry];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (hashes.has(path)) continue;
    const name = relative(root, path);
    if (hashes.size === MAX_FILES) return { shown, reason: `it imports more than ${MAX_FILES} files` };
    const reading = await readDefinition(path, { boundary: root });
    if (reading.kind !== "text")
      return {
        shown,
        reason: `${name}: ${reading.kind === "missing" ? "it does not exist" : reading.reason}`,
      };
    hashes.set(path, reading.sha256);
    const imports = findImports(path, reading.text);
    if ("reason" in imports) return { shown, reason: `${name}: ${imports.reason}` };
    waiting.push(...imports.paths);
  }
  const files = [...hashes].map(([path, sha256]) => [relative(root, path), sha256]).sort();
  const sha256 = Bun.SHA256.hash(JSON.stringify(files), "hex");
  const imported = files.map(([name]) => name).filter((name) => resolve(root, name ?? "") !== entry);
  return {
    ...{ kind: "extension", name: shown, path: relative(root, entry), sha256 },
    details: { sha256, ...(imported.length > 0 && { imports: imported.join(", ") }) },
    module: { path: entry, shown, isUsers: false, version: sha256 },
  };
}

/** What a module imports; only files of the project, whose content is known, and modules of the runtime. */
function findImports(path: string, text: string): { paths: string[] } | { reason: string } {
  if (/\.jsonc?$/.test(path)) return { paths: [] };
  let found: Bun.Import[];
  try {
    found = new Bun.Transpiler({ loader: /\.[cm]?tsx?$/.test(path) ? "tsx" : "jsx" }).scanImports(text);
  } catch (error) {
    return { reason: error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : "it cannot be read" };
  }
  const names = found.map((each) => each.path).filter((name) => !/^(?:node|bun):/.test(name));
  const foreign = names.find((name) => !/^\.\.?\//.test(name));
  if (foreign !== undefined)
    return {
      reason: `it imports ${foreign}; an extension of a project may only import files of the project, by their paths with extensions`,
    };
  return { paths: names.map((name) => join(dirname(path), name)) };
}

/** The modules of a project: code that runs inside of this program. */
export const EXTENSION_TRUST: TrustKind = {
  kind: "extension",
  title: "Extensions: code that runs inside of diligent, without a sandbox",
  noun: ["extension", "extensions"],
  async find({ root }) {
    const { items, skipped } = await readProjectModules(root, await readPaths(root));
    return {
      items: items.map(({ module: _, ...item }) => item),
      warnings: skipped.map(({ shown, reason }) => ({
        code: "extension_not_loaded",
        message: `The extension ${shown} cannot be used: ${reason}`,
      })),
    };
  },
};

/** The key `extensions` of the project's file; an invalid file is reported where it is loaded. */
async function readPaths(root: string): Promise<string[]> {
  try {
    const reading = await readProjectFile(root);
    const value = reading.kind === "file" ? readAsWritten(reading.file).value : undefined;
    const paths =
      typeof value === "object" && value !== null && "extensions" in value ? value.extensions : [];
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [];
  }
}
