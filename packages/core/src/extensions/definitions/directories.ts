import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { isEnterableDirectory } from "../../infrastructure/fs/stat.ts";
import { userConfigDirectory } from "../../infrastructure/paths/user.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import type { DefinitionDirectory, DefinitionKind, Plugin } from "./plugin.ts";

export type { DefinitionDirectory };

/** True for what belongs to the project, so that it needs trust. */
export function belongsToProject({
  boundary,
  plugin,
}: Partial<Pick<DefinitionDirectory, "boundary" | "plugin">>): boolean {
  return boundary !== undefined && plugin === undefined;
}

/** The name of a definition as it is used: `PLUGIN:NAME` for one of a plugin. */
export function toQualifiedName(name: string, plugin: DefinitionDirectory["plugin"]): string {
  return plugin === undefined ? name : `${plugin.name}:${name}`;
}

/** The session for which definitions are looked for. `cwd` and `root` are absolute and real. */
export interface DefinitionPlace {
  cwd: string;
  root: string;
  environment: Environment;
  /** Those of the user that are active. */
  plugins?: readonly Plugin[] | undefined;
}

/** Where one kind of definitions lies. */
export interface DefinitionLocations {
  kind: DefinitionKind;
  /** Relative to each directory from the working directory up to the project root, the strongest first. */
  project: readonly string[];
  /** Relative to the user's home directory; `$CONFIG/` stands for the directory of configurations, `~/.config`. */
  user: readonly string[];
}

/** Where skills lie: our own directory first, then the shared one, then those of other agents. */
export const SKILL_LOCATIONS: DefinitionLocations = {
  kind: "skills",
  project: [
    ".diligent/skills",
    ".agents/skills",
    ".claude/skills",
    ".opencode/skills",
    ".gemini/skills",
    ".pi/skills",
  ],
  user: ["$CONFIG/diligent/skills", ".agents/skills", ".claude/skills", ".codex/skills"],
};

/** Where files with commands lie, as `SKILL_LOCATIONS`. */
export const COMMAND_LOCATIONS: DefinitionLocations = {
  kind: "commands",
  project: [
    ".diligent/commands",
    ".claude/commands",
    ".opencode/commands",
    ".opencode/command",
    ".gemini/commands",
    ".pi/prompts",
  ],
  user: [
    "$CONFIG/diligent/commands",
    ".claude/commands",
    "$CONFIG/opencode/commands",
    "$CONFIG/opencode/command",
    ".codex/prompts",
    ".gemini/commands",
    ".pi/agent/prompts",
  ],
};

/** Where definitions of sub-agents lie: our own directory first, then those of other agents. */
export const AGENT_LOCATIONS: DefinitionLocations = {
  kind: "agents",
  project: [".diligent/agents", ".claude/agents", ".opencode/agents", ".opencode/agent"],
  user: ["$CONFIG/diligent/agents", ".claude/agents", "$CONFIG/opencode/agents", "$CONFIG/opencode/agent"],
};

/** True if one of the directories has an entry: our own directory for skills exists in every project, mostly empty. */
export function hasDefinitions(place: DefinitionPlace, locations: DefinitionLocations): boolean {
  return findDefinitionDirectories(place, locations).some(({ path }) => !isEmptyDirectory(path));
}

function isEmptyDirectory(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false; // Not readable, which its reader reports.
  }
}

/**
 * The existing directories, the strongest first: those of the project from the working directory upwards, then the
 * user's, then those of plugins. Nothing in them is read.
 */
export function findDefinitionDirectories(
  place: DefinitionPlace,
  locations: DefinitionLocations,
): DefinitionDirectory[] {
  const users = findUserDirectories(place.environment, locations.user);
  const usersOwn = new Set(users.map(({ path }) => realPathOf(path)));
  const levels = directoriesBetween(place.cwd, place.root);
  // In the home directory, a directory of the user is not one of a project.
  const projects = levels
    .flatMap((level) => toProjectDirectories(level, place.root, locations.project))
    .filter(({ path }) => !usersOwn.has(realPathOf(path)));
  const ofPlugins = (place.plugins ?? []).flatMap(({ directories }) => directories[locations.kind]);
  return [...projects, ...users, ...ofPlugins];
}

const MAX_DEPTH = 6;
const MAX_DIRECTORIES = 2_000;
const SKIPPED = new Set([".git", "node_modules"]);

/** The directories of a whole project, also in subdirectories: at most six levels down, and 2,000 directories. */
export function findNestedDirectories(root: string, project: readonly string[]): DefinitionDirectory[] {
  const found: DefinitionDirectory[] = [];
  let level = [root];
  let budget = MAX_DIRECTORIES;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const directory of level) {
      if (budget-- === 0) return found;
      found.push(...toProjectDirectories(directory, root, project));
      next.push(...listDirectories(directory).filter((path) => !/\/\.[^/]*$/.test(path)));
    }
    level = next;
  }
  return found;
}

/** The directories in a directory, without links, repositories and packages, sorted. Never throws. */
function listDirectories(directory: string): string[] {
  try {
    return readDirectory(directory)
      .filter(({ name, kind }) => kind === "directory" && !SKIPPED.has(name))
      .map(({ name }) => join(directory, name))
      .sort();
  } catch {
    return []; // Not readable: nothing in it can be used.
  }
}

function toProjectDirectories(level: string, root: string, names: readonly string[]): DefinitionDirectory[] {
  return names
    .map((name) => join(level, name))
    .filter(isEnterableDirectory)
    .map((path) => ({ path, shown: relative(root, path), boundary: root }));
}

function findUserDirectories(environment: Environment, names: readonly string[]): DefinitionDirectory[] {
  const home = homeDirectory(environment);
  if (home === undefined) return [];
  const config = dirname(userConfigDirectory(environment) ?? join(home, ".config", "diligent"));
  return names
    .map((name) =>
      name.startsWith("$CONFIG/") ? join(config, name.slice("$CONFIG/".length)) : join(home, name),
    )
    .filter(isEnterableDirectory)
    .map((path) => ({ path, shown: shownInHome(path, home), boundary: undefined }));
}

function shownInHome(path: string, home: string): string {
  return isInside(path, home) ? `~/${relative(home, path)}` : path;
}

/** From `cwd` up to `root`, both included. */
function directoriesBetween(cwd: string, root: string): string[] {
  const directories = [cwd];
  for (let current = cwd; current !== root && isInside(current, root); ) {
    current = resolve(current, "..");
    directories.push(current);
  }
  return directories;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Removed meanwhile: it is then not readable either.
  }
}
