import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../config/loader.ts";
import type { ProjectTrust } from "../config/trust-items.ts";
import type { SessionAgents } from "../extensions/agents/session-agents.ts";
import type { AgentCall, AgentSession } from "../extensions/agents/task-tool.ts";
import { createCost } from "../extensions/cost/extension.ts";
import { COMMAND_LOCATIONS, hasDefinitions, SKILL_LOCATIONS } from "../extensions/definitions/directories.ts";
import type { ActivePlugins } from "../extensions/definitions/plugin.ts";
import { createEvidence } from "../extensions/evidence/extension.ts";
import type { CheckKind } from "../extensions/evidence/types.ts";
import { mayHaveHooks } from "../extensions/hooks/hook-files.ts";
import { mayHaveServers } from "../extensions/language-servers/known-servers.ts";
import { mayHavePlugins } from "../extensions/plugins/plugin-paths.ts";
import { openRules } from "../extensions/rules/extension.ts";
import { createRuns } from "../extensions/runs/extension.ts";
import { type Environment, sleep } from "../infrastructure/runtime.ts";
import type { SessionManager } from "../session/manager.ts";
import type { Harness, HarnessExtension, SessionAddition, SessionScope } from "./types.ts";

/** Where the program's own extensions are loaded. */
export interface ExtensionPlace {
  /** Absolute and real. */
  cwd: string;
  environment: Environment;
  /** The configuration of the project. */
  loaded: LoadedConfig;
  /** False: nothing is written to the project. */
  isPersistent: boolean;
  /** Decides which definitions of the project take effect; loaded on first use. */
  trust(): Promise<ProjectTrust>;
  /** The user's plugins; read on first use. */
  plugins(): Promise<ActivePlugins>;
  /** What a run may not end without; see `HarnessOverrides`. */
  requiredEvidence?: readonly CheckKind[] | undefined;
  /** To open further sessions; they get the same extensions. */
  harness: Harness;
  /** False where the model has only the tools of a program that uses the library. */
  hasBuiltinTools: boolean;
  /** The sub-agents of a session, by its id. */
  agentsOf(sessionId: string): SessionAgents;
  /** Opens a session for a sub-agent of a session. @throws Error with a sentence for the model. */
  openAgent(parent: SessionManager, call: AgentCall): Promise<AgentSession>;
}

/** An extension that is part of the program and loaded when it is used. */
export interface ExtensionLoader {
  /** Of the extension. */
  name: string;
  /** True if its configuration or folder exists. Called at every start: it looks at one key or path and reads no file. */
  isWanted(place: ExtensionPlace): boolean;
  /** Imports and opens it. @throws Error with a sentence for the user. */
  load(place: ExtensionPlace): Promise<HarnessExtension>;
}

const SETTLE_MS = 1_000;

/**
 * In the order in which their tools and prompt sections appear. What every session has is imported above: a file that is
 * always loaded takes longer by itself.
 */
const LOADERS: readonly ExtensionLoader[] = [
  {
    name: "plugins",
    isWanted: ({ environment }) => mayHavePlugins(environment),
    load: async (place) => (await import("../extensions/plugins/extension.ts")).openPlugins(place),
  },
  {
    name: "hooks",
    isWanted: ({ loaded, environment }) => mayHaveHooks(loaded, environment) || mayHavePlugins(environment),
    load: async (place) => (await import("../extensions/hooks/extension.ts")).openHooks(place),
  },
  {
    name: "agents",
    isWanted: ({ hasBuiltinTools, loaded }) =>
      hasBuiltinTools && (loaded.config.agentLimits?.maxDepth ?? 1) > 0,
    load: async (place) => (await import("./sub-agents.ts")).openSubAgents(place),
  },
  {
    name: "skills",
    isWanted: ({ cwd, loaded, environment }) =>
      hasDefinitions({ cwd, root: loaded.projectRoot, environment }, SKILL_LOCATIONS) ||
      mayHavePlugins(environment),
    load: async (place) => (await import("./prompts/skills.ts")).openSkills(place),
  },
  {
    name: "commands",
    isWanted: ({ cwd, loaded, environment }) =>
      hasDefinitions({ cwd, root: loaded.projectRoot, environment }, COMMAND_LOCATIONS) ||
      mayHavePlugins(environment),
    load: async (place) => (await import("./prompts/prompt-commands.ts")).openPromptCommands(place),
  },
  {
    name: "mcp",
    isWanted: ({ environment, loaded: { config, servers, projectRoot } }) =>
      mayHavePlugins(environment) ||
      config.mcpServers !== undefined ||
      Object.keys(servers.untrusted).length > 0 ||
      existsSync(join(projectRoot, ".mcp.json")),
    load: async (place) => (await import("../extensions/mcp/extension.ts")).openServers(place),
  },
  {
    name: "cost",
    isWanted: () => true,
    load: async ({ environment, loaded, isPersistent }) =>
      createCost({
        budget: loaded.config.budget,
        isKept: isPersistent,
        environment,
        root: loaded.projectRoot,
      }),
  },
  {
    name: "runs",
    isWanted: ({ isPersistent, hasBuiltinTools }) => isPersistent && hasBuiltinTools,
    load: async () => createRuns(),
  },
  {
    name: "review",
    isWanted: ({ hasBuiltinTools }) => hasBuiltinTools,
    load: async (place) => ({
      name: "review",
      commands: [
        {
          name: "review",
          description: "Review changes, with a reviewer that only reads",
          argumentHint: "[RANGE|--staged]",
          toPrompt: async (args, signal, scope) =>
            (await import("./prompts/review.ts")).reviewToPrompt(args, { place, scope, signal }),
        },
      ],
      close() {},
    }),
  },
  {
    name: "language-servers",
    isWanted: ({ hasBuiltinTools, loaded, environment }) =>
      hasBuiltinTools && mayHaveServers(loaded, environment),
    load: async (place) =>
      (await import("../extensions/language-servers/extension.ts")).openLanguageServers(place),
  },
  {
    name: "modules",
    isWanted: ({ loaded: { config, projectExtensions } }) =>
      projectExtensions.length + (config.extensions?.length ?? 0) > 0,
    load: async (place) => (await import("../extensions/modules/extension.ts")).openModules(place),
  },
  {
    name: "rules",
    isWanted: () => true,
    load: openRules,
  },
  {
    name: "evidence",
    isWanted: () => true,
    load: async ({ loaded, requiredEvidence }) =>
      createEvidence({
        checks: loaded.config.checks,
        required: requiredEvidence,
      }),
  },
];

/** The extensions of one harness: those that it was given, then those that the program loads. */
export class HarnessExtensions {
  private opening: Promise<readonly HarnessExtension[]> | undefined;
  private opened: readonly HarnessExtension[];

  constructor(
    given: readonly HarnessExtension[],
    private readonly place: ExtensionPlace,
    private readonly loaders: readonly ExtensionLoader[] = LOADERS,
  ) {
    this.opened = given;
  }

  /** Those that are open. */
  get all(): readonly HarnessExtension[] {
    return this.opened;
  }

  /** Loads what this place needs, once. @throws Error with a sentence for the user; the next call tries again. */
  open(): Promise<readonly HarnessExtension[]> {
    this.opening ??= this.load().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  /** Waits a moment for what they still do for closed sessions. */
  async settle(): Promise<void> {
    const settling = this.opened.flatMap(({ settle }) => (settle ? [settle()] : []));
    if (settling.length > 0) await Promise.race([Promise.all(settling), sleep(SETTLE_MS)]);
  }

  async close(): Promise<void> {
    const opened = this.opened;
    this.opened = [];
    for (const extension of opened) await extension.close();
  }

  private async load(): Promise<readonly HarnessExtension[]> {
    // One that was given replaces the program's own.
    const given = new Set(this.opened.map(({ name }) => name));
    const wanted = this.loaders.filter((loader) => !given.has(loader.name) && loader.isWanted(this.place));
    const loaded = await Promise.all(wanted.map((loader) => loader.load(this.place)));
    this.opened = [...this.opened, ...loaded];
    return this.opened;
  }
}

/** What the extensions add to a session, in their order: first what they add to every session, then to this one. */
export async function openAdditions(
  extensions: readonly HarnessExtension[] = [],
  scope: SessionScope,
): Promise<SessionAddition[]> {
  const own = await Promise.all(extensions.map(async (extension) => extension.openSession?.(scope)));
  return [...extensions.map(({ tools, promptSection }) => ({ tools, promptSection })), ...own].flatMap(
    (addition) => addition ?? [],
  );
}
