import { realpathSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { formatKey } from "../../config/errors.ts";
import type { LoadedConfig } from "../../config/loader.ts";
import type {
  ProjectTrust,
  TrustFindings,
  TrustItem,
  TrustKind,
  TrustPlace,
} from "../../config/trust-items.ts";
import { readCheckedFile } from "../../infrastructure/fs/read.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { userConfigDirectory } from "../../infrastructure/paths/user.ts";
import type { Environment } from "../../infrastructure/runtime.ts";
import {
  findServersInPath,
  isServer,
  KNOWN_SERVERS,
  listProjectPrograms,
  PROJECT_PROGRAMS,
} from "./known-servers.ts";

/** A server that may be started. */
export interface LanguageServerDefinition {
  name: string;
  /** A program, by its path or its name in PATH, and its arguments. */
  command: readonly string[];
  /** In lower case, with the dot. */
  extensions: readonly string[];
  /**
   * `user`: from the user's settings. `project`: from a trusted project. `found`: in PATH; nobody has chosen it, so it
   * only runs in a sandbox, since servers run what a project's files say.
   */
  origin: "user" | "project" | "found";
  /** See `KnownServer`. */
  initializationOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** Where servers are looked for. */
interface ServerSearch {
  loaded: LoadedConfig;
  environment: Environment;
  /** Loaded where the project has a server of its own. */
  trust(): Promise<ProjectTrust>;
}

/** Programs of the project's `node_modules/.bin` need trust; those of its `diligent.jsonc` are trusted with that file. */
export const LANGUAGE_SERVER_TRUST: TrustKind = {
  kind: "language-server",
  title: `Language servers that are started, from ${PROJECT_PROGRAMS}`,
  noun: ["language server", "language servers"],
  find: findItems,
};

/** A server of the project, as the user decides about it. */
interface ProjectServer extends TrustItem {
  command: readonly string[];
}

/** The servers that are used, one a name: the configured one, else that of the trusted project, else the one in PATH. */
export async function findLanguageServers({
  loaded,
  environment,
  trust,
}: ServerSearch): Promise<LanguageServerDefinition[]> {
  const { config, origins, projectRoot: root } = loaded;
  if (config.lsp === false) return [];
  const settings = config.lsp ?? {};
  const directory = userConfigDirectory(environment);
  const configured = Object.entries(settings).flatMap(([name, setting]): LanguageServerDefinition[] => {
    if (setting === false) return [];
    const source = origins[formatKey(["lsp", name, "command"])];
    const isUsers = directory !== undefined && source?.startsWith(`${directory}/`) === true;
    const known = KNOWN_SERVERS.find((each) => each.name === name);
    const extensions = (setting.extensions ?? known?.extensions ?? []).map(toExtension);
    return [{ name, command: setting.command, extensions, origin: isUsers ? "user" : "project" }];
  });
  const installed = findServersInPath(loaded, environment);
  const inPath = KNOWN_SERVERS.flatMap(({ name, extensions }): LanguageServerDefinition[] => {
    const command = Object.hasOwn(settings, name) ? undefined : installed.get(name);
    return command ? [{ name, command, extensions, origin: "found" }] : [];
  });
  const usable = (await findProjectServers(root)).filter(({ name }) => !Object.hasOwn(settings, name));
  const trusted =
    usable.length === 0 ? [] : await (await trust()).selectTrusted(LANGUAGE_SERVER_TRUST, usable);
  const fromProject = trusted.map(({ name, command }): LanguageServerDefinition => {
    const extensions = KNOWN_SERVERS.find((known) => known.name === name)?.extensions ?? [];
    return { name, command, extensions, origin: "project" };
  });
  const names = new Set([...configured, ...fromProject].map(({ name }) => name));
  const all = [...configured, ...fromProject, ...inPath.filter(({ name }) => !names.has(name))];
  return all.map((definition) => {
    const known = KNOWN_SERVERS.find(({ name }) => name === definition.name);
    return { ...definition, initializationOptions: known?.initializationOptions };
  });
}

/** In lower case, with a dot in front. */
function toExtension(text: string): string {
  return (text.startsWith(".") ? text : `.${text}`).toLowerCase();
}

/** The server of a file; of several, the first. */
export function selectServer<T extends Pick<LanguageServerDefinition, "extensions">>(
  servers: readonly T[],
  path: string,
): T | undefined {
  const extension = extname(path).toLowerCase();
  return servers.find(({ extensions }) => extensions.includes(extension));
}

async function findItems({ root }: TrustPlace): Promise<TrustFindings> {
  return { items: await findProjectServers(root), warnings: [] };
}

async function findProjectServers(root: string): Promise<ProjectServer[]> {
  const found = new Map<string, ProjectServer>();
  for (const { name, path, args } of listProjectPrograms(root)) {
    const server =
      !found.has(name) && isServer(path) ? await describeProgram(root, { name, path, args }) : undefined;
    if (server) found.set(name, server);
  }
  return [...found.values()];
}

const MAX_PROGRAM_BYTES = 64 * 1024 * 1024;

/** Undefined for a program that leads out of the project, or cannot be read. */
async function describeProgram(
  root: string,
  { name, path, args }: { name: string; path: string; args: readonly string[] },
): Promise<ProjectServer | undefined> {
  const realPath = realpathSync(path);
  if (!isInside(realPath, root)) return undefined;
  const program = await readContent(realPath);
  if (program === undefined) return undefined;
  const manifest = await findManifest(realPath, root);
  const shown = relative(root, path);
  return {
    kind: LANGUAGE_SERVER_TRUST.kind,
    name,
    path: shown,
    details: {
      command: [shown, ...args].join(" "),
      program: relative(root, realPath),
      ...(manifest?.version !== undefined && { version: manifest.version }),
    },
    sha256: Bun.SHA256.hash(
      JSON.stringify([shown, args, relative(root, realPath), hash(program), hash(manifest?.content)]),
      "hex",
    ),
    command: [path, ...args],
  };
}

async function readContent(path: string): Promise<Uint8Array | undefined> {
  const reading = await readCheckedFile(path, MAX_PROGRAM_BYTES + 1);
  if (reading.kind !== "file" || reading.file.content.length > MAX_PROGRAM_BYTES) return undefined;
  return reading.file.content;
}

function hash(content: Uint8Array = new Uint8Array()): string {
  return Bun.SHA256.hash(content, "hex");
}

/** The package that a program is part of. */
async function findManifest(
  program: string,
  root: string,
): Promise<{ content: Uint8Array; version: string | undefined } | undefined> {
  for (let directory = dirname(program); isInside(directory, root); directory = dirname(directory)) {
    const content = await readContent(join(directory, "package.json"));
    if (content === undefined) continue;
    return { content, version: readVersion(content) };
  }
  return undefined;
}

function readVersion(content: Uint8Array): string | undefined {
  try {
    const manifest: unknown = JSON.parse(new TextDecoder().decode(content));
    const isVersioned = typeof manifest === "object" && manifest !== null && "version" in manifest;
    return isVersioned && typeof manifest.version === "string" ? manifest.version.slice(0, 60) : undefined;
  } catch {
    return undefined;
  }
}
