/** A directory with definitions for agents, such as `.claude/skills`, of the project, of the user or of a plugin. */
export interface DefinitionDirectory {
  /** Absolute. */
  path: string;
  /** For people: relative to the project root, or beginning with `~/`, or with the plugin. */
  shown: string;
  /**
   * The root of the project or plugin, real, which its files must not leave by links; undefined for a directory of the
   * user.
   */
  boundary: string | undefined;
  /** The plugin that it belongs to, whose name precedes those of its definitions. */
  plugin?: Pick<Plugin, "name" | "root"> | undefined;
  /** The only entry of it that counts; all when left out. */
  only?: string | undefined;
}

/** The kinds of definitions that lie in directories. */
export type DefinitionKind = "skills" | "commands" | "agents";

/** The variable by which the definitions of a plugin, and what they start, find its files. */
export const PLUGIN_ROOT_VARIABLE = "CLAUDE_PLUGIN_ROOT";

/** Settings of a plugin in one of its files, as written. */
export interface PluginSettings {
  /** The file, for people. */
  source: string;
  value: unknown;
}

/** A package of definitions that the user has agreed to: one more place where they lie. */
export interface Plugin {
  /** Unique, without colons; it precedes the names of its definitions. */
  name: string;
  /** Absolute and real. */
  root: string;
  /** Where its definitions lie; the directories exist. */
  directories: Readonly<Record<DefinitionKind, readonly DefinitionDirectory[]>>;
  /** As in settings of Claude Code: by event. */
  hooks: readonly PluginSettings[];
  /** Servers of the Model Context Protocol by name, as in `.mcp.json`. */
  servers: readonly PluginSettings[];
  /** What of it is not used, each a sentence. */
  problems: readonly string[];
}

/** The user's plugins, and those that are not used. */
export interface ActivePlugins {
  active: readonly Plugin[];
  inactive: readonly InactivePlugin[];
  /** Why none is used, a sentence. */
  problems: readonly string[];
}

/** A plugin that is not used, and why: a clause without a full stop. */
export interface InactivePlugin {
  name: string;
  reason: string;
}
