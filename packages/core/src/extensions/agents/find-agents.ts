import { basename, join } from "node:path";
import type { DiligentConfig } from "../../config/schema.ts";
import type { ProjectTrust, TrustItem, TrustKind } from "../../config/trust-items.ts";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import {
  AGENT_LOCATIONS,
  belongsToProject,
  type DefinitionDirectory,
  type DefinitionPlace,
  findDefinitionDirectories,
  findNestedDirectories,
  toQualifiedName,
} from "../definitions/directories.ts";
import { PLUGIN_ROOT_VARIABLE } from "../definitions/plugin.ts";
import { readDefinition } from "../definitions/read-definition.ts";
import { BUILT_IN_AGENTS } from "./built-in.ts";
import { applyAgentSettings } from "./configured-agents.ts";
import type { AgentDefinition } from "./definition.ts";
import { parseAgent } from "./parse-agent.ts";

/** A file that defines no sub-agent, and why: a clause without a full stop. */
export interface SkippedAgent {
  /** For people. */
  shown: string;
  reason: string;
}

/** The sub-agents of a session. */
export interface FoundAgents {
  /** One of each name. */
  agents: AgentDefinition[];
  skipped: SkippedAgent[];
  /** Those of the project that wait for trust. */
  waiting: AgentDefinition[];
}

/** Which definitions there are, and whether the user trusts those of the project. */
interface FindOptions extends DefinitionPlace {
  config: Pick<DiligentConfig, "agents">;
  trust: Pick<ProjectTrust, "selectTrusted">;
}

/** The sub-agents that a session may use: built-in ones, those of the user, and those of the project that are trusted. */
export async function findAgents({ config, trust, ...place }: FindOptions): Promise<FoundAgents> {
  const read = await readAgents(findDefinitionDirectories(place, AGENT_LOCATIONS));
  const files = read.flatMap((each) => ("reason" in each ? [] : [each]));
  const ofProject = files.flatMap(({ item, needsTrust }) => (needsTrust ? [item] : []));
  const trusted = new Set(await trust.selectTrusted(AGENT_TRUST, ofProject));
  const isUsed = ({ item, needsTrust }: AgentFile) => !needsTrust || trusted.has(item);
  const found = new Map<string, AgentDefinition>();
  // The weakest first: a stronger one takes its place.
  const used = files.filter(isUsed).map(({ definition }) => definition);
  for (const definition of [...BUILT_IN_AGENTS, ...used.reverse()]) found.set(definition.name, definition);
  return {
    agents: applyAgentSettings([...found.values()], config),
    skipped: read.flatMap((each) => ("reason" in each ? [each] : [])),
    waiting: files.filter((file) => !isUsed(file)).map(({ definition }) => definition),
  };
}

/** The sub-agents in these directories, as the user decides about them, and the files that define none. */
export async function readAgentItems(
  directories: readonly DefinitionDirectory[],
): Promise<{ items: TrustItem[]; skipped: SkippedAgent[] }> {
  const read = await readAgents(directories);
  return {
    items: read.flatMap((each) => ("reason" in each ? [] : [each.item])),
    skipped: read.flatMap((each) => ("reason" in each ? [each] : [])),
  };
}

/** A definition with what trust in it depends on. */
interface AgentFile {
  definition: AgentDefinition;
  item: TrustItem;
  needsTrust: boolean;
}

const MAX_FILES = 1_000;
const MAX_DEPTH = 4;

async function readAgents(
  directories: readonly DefinitionDirectory[],
): Promise<(AgentFile | SkippedAgent)[]> {
  const read: (AgentFile | SkippedAgent)[] = [];
  const realPaths = new Set<string>();
  for (const directory of directories) {
    for (const path of listFiles(directory)) {
      const shown = revealInvisible(join(directory.shown, path.slice(directory.path.length)));
      const reading = await readDefinition(path, directory);
      if (reading.kind === "missing") continue;
      if (reading.kind === "refused") {
        read.push({ shown, reason: reading.reason });
        continue;
      }
      // The same file under two names, by a link between the directories of two agents.
      if (realPaths.has(reading.realPath)) continue;
      realPaths.add(reading.realPath);
      const parsed = parseAgent(reading.text, { fileName: basename(path, ".md"), source: shown });
      if ("reason" in parsed) read.push({ shown, reason: parsed.reason });
      else read.push(toAgentFile(parsed.definition, { shown, directory, sha256: reading.sha256 }));
    }
  }
  return read;
}

function toAgentFile(
  definition: AgentDefinition,
  { shown, directory, sha256 }: { shown: string; directory: DefinitionDirectory; sha256: string },
): AgentFile {
  const { plugin } = directory;
  const prompt = plugin
    ? definition.prompt.replaceAll(`\${${PLUGIN_ROOT_VARIABLE}}`, () => plugin.root)
    : definition.prompt;
  const own = { ...definition, prompt, name: toQualifiedName(definition.name, plugin) };
  return { definition: own, item: toItem(own, shown, sha256), needsTrust: belongsToProject(directory) };
}

function toItem(
  { name, description, tools, model }: AgentDefinition,
  shown: string,
  sha256: string,
): TrustItem {
  const details = {
    description,
    tools: tools.allowed?.join(", ") ?? "all of the session",
    ...(model !== undefined && { model }),
  };
  return { kind: AGENT_TRUST.kind, name, path: shown, details, sha256 };
}

/** Markdown files, also in subdirectories, sorted; links to files are followed, links to directories are not. */
function listFiles({ path: root, only }: DefinitionDirectory): string[] {
  const files: string[] = [];
  let level = [root];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const directory of level) {
      for (const { name, kind } of readEntries(directory)) {
        if (files.length >= MAX_FILES) return files;
        if (only !== undefined && depth === 0 && name !== only) continue;
        if (kind === "directory") next.push(join(directory, name));
        else if (name.endsWith(".md") && name.toLowerCase() !== "readme.md" && kind !== "other")
          files.push(join(directory, name));
      }
    }
    level = next;
  }
  return files;
}

function readEntries(directory: string) {
  try {
    return readDirectory(directory)
      .filter(({ name }) => !name.startsWith("."))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    return []; // Not a directory, or not readable: nothing in it can be used.
  }
}

/** The definitions of sub-agents in a project: what they are told reaches models, and they choose models and tools. */
export const AGENT_TRUST: TrustKind = {
  kind: "agent",
  title: "Sub-agents that the model may use",
  noun: ["sub-agent", "sub-agents"],
  async find({ root }) {
    const { items, skipped } = await readAgentItems(findNestedDirectories(root, AGENT_LOCATIONS.project));
    return {
      items,
      warnings: skipped.map(({ shown, reason }) => ({
        code: "agent_not_loaded",
        message: `${shown} is not used: ${reason}`,
      })),
    };
  },
};
