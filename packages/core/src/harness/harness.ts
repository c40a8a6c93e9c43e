import { SharedBudget } from "../agent/budget.ts";
import type { GrantStore } from "../approval/grant-store.ts";
import type { ToolLists } from "../approval/tool-lists.ts";
import type { LoadedConfig, LoadOptions } from "../config/loader.ts";
import type { ProjectTrust } from "../config/trust-items.ts";
import { SessionAgents } from "../extensions/agents/session-agents.ts";
import type { AgentCall, AgentSession } from "../extensions/agents/task-tool.ts";
import type { ActivePlugins } from "../extensions/definitions/plugin.ts";
import { readPlugins } from "../extensions/plugins/plugin-paths.ts";
import { appendInputHistory } from "../infrastructure/fs/input-history.ts";
import { hasHostLimit } from "../infrastructure/network/host-limit.ts";
import { readGitBranch } from "../infrastructure/paths/git.ts";
import { endAllProcesses } from "../infrastructure/process/all-processes.ts";
import { type Environment, processEnvironment } from "../infrastructure/runtime.ts";
import { SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import type { ModelDefinition } from "../provider/models.ts";
import type { Recording } from "../provider/scripted.ts";
import type { SessionManager } from "../session/manager.ts";
import { type NetworkRecords, readNetworkRecords } from "../session/network-records.ts";
import type { ToolResult } from "../tool/types.ts";
import { type EditorFiles, FileTracker, type Workspace } from "../tools/workspace.ts";
import { type Approvals, openApprovals, toRules } from "./approve.ts";
import type { ParentSession } from "./child-session.ts";
import { type ComposedSession, composeSession, type SessionSettings } from "./compose-session.ts";
import type { ProjectStart } from "./earlier-session.ts";
import { UsageError } from "./errors.ts";
import { type ExpandedLine, expandLine } from "./expand-prompt.ts";
import { HarnessExtensions } from "./extensions.ts";
import { loadConfig } from "./load-config.ts";
import { nameAddedModels } from "./models.ts";
import { createSessionHostQuestion, NetworkLog } from "./network-log.ts";
import { type SandboxSummary, SessionCommands } from "./session-commands.ts";
import { toNotice } from "./session-prompt.ts";
import type {
  ExtensionCommand,
  ExtensionRenderer,
  Harness,
  HarnessExtension,
  HarnessOptions,
  HarnessOverrides,
  HarnessSession,
  ModelChange,
  SessionChoices,
  SessionEnding,
} from "./types.ts";

/** See `HarnessOptions`. */
export interface ProjectHarnessOptions extends Omit<HarnessOptions, "overrides"> {
  overrides?: ProjectOverrides | undefined;
}

/** The settings of the program's own front ends. */
export interface ProjectOverrides extends HarnessOverrides, SessionSettings {
  /** A project that is trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
  /** Servers in addition to the configured ones, with the rights of the user's own. */
  mcpServers?: LoadedConfig["config"]["mcpServers"];
  /** A prompt that is not added to the input history. */
  unrecordedPrompt?: string | undefined;
}

/** How the program opens one session. */
export interface ProjectChoices extends SessionChoices {
  /** The grants of the session that this one replaces; the saved ones when left out. */
  grants?: GrantStore | undefined;
  /** The existing recording of the models' replies. */
  recording?: Recording | undefined;
  /** Of the session that this one replaces, which is closed with `keepsCommands` then; new ones when left out. */
  commands?: SessionCommands | undefined;
  /** The editor in which the user works. */
  editor?: EditorFiles | undefined;
  /** True if it takes the place of another session of this program. */
  isReplacing?: boolean | undefined;
}

/** A session with everything that the program's own front ends show and change. */
export interface ProjectSession
  extends Omit<HarnessSession, "approval" | "close">,
    Omit<ComposedSession, keyof HarnessSession>,
    Pick<Approvals, "grants"> {
  approval: Approvals["approval"];
  /** The configuration of this project. */
  loaded: LoadedConfig;
  /** Whether commands run in a sandbox. */
  sandbox: SandboxSummary;
  /** Its connections so far, on all branches, and what cannot be seen of them. */
  networkRecords(): NetworkRecords;
  /**
   * Reads the permission rules from the configuration files again.
   * @throws UsageError when one of the files is invalid: the rules are unchanged then.
   */
  reloadRules(): Promise<void>;
  /** True if definitions of the project, such as skills, are not used because they are not trusted. */
  hasWaitingDefinitions: boolean;
  /** Decides which definitions of the project take effect in this session. */
  projectTrust(): Promise<ProjectTrust>;
  /** The commands of all extensions, for lists. A server may add and remove some at any time. */
  readonly extensionCommands: readonly ExtensionCommand[];
  /** How calls of other tools than the built-in ones are shown, by the tool's name. */
  renderers: ReadonlyMap<string, ExtensionRenderer>;
  /** The models of all extensions, by the names with which they are chosen. */
  addedModels: readonly ModelDefinition[];
  /** The names of those that are not trusted. */
  untrustedCommands: readonly string[];
  /** What a line of the user stands for, see `expandLine`; undefined if it is sent as it is. @throws UsageError */
  expandLine(text: string, signal: AbortSignal): Promise<ExpandedLine | undefined>;
  /** See `HarnessExtension`; of all extensions, the first that knows it. */
  readMention(mention: string, signal: AbortSignal): Promise<ToolResult | undefined>;
  listMentions(): readonly string[];
  /** The user's changes since the session was opened. */
  chosen: ModelChange;
  /** The recording of the models' replies, if there is one. */
  recording: Recording | undefined;
  /** Its commands in the background. */
  jobs: SessionJobs;
  /** Its sub-agents. */
  agents: SessionAgents;
  /** The workspace for commands that the user enters: never in a sandbox. */
  workspace: Workspace;
  /** Where its commands run, and its commands in the background. */
  commands: SessionCommands;
  /** The limits for several prompts together: the cost is that of all of them. */
  createBudget(): SharedBudget;
  /** Adds a prompt to the input history, before the session has any other entry. */
  noteInput(text: string): void;
  /**
   * Saves everything and ends its commands, the detached ones aside.
   * @param options.keepsCommands true: another session has taken them over, and they continue.
   * @param options.ending what its extensions are told; `other` when left out.
   */
  close(options?: { keepsCommands?: boolean; ending?: SessionEnding }): void;
}

/**
 * Reads the configuration of a directory and creates its harness.
 * @throws UsageError when a configuration file is invalid.
 */
export function createHarness(options: HarnessOptions): Promise<Harness> {
  return createProjectHarness(options);
}

/** See `createHarness`; for the program's own front ends. */
export async function createProjectHarness({
  cwd,
  environment = processEnvironment(),
  overrides = {},
}: ProjectHarnessOptions): Promise<ProjectHarness> {
  const configured = await loadConfig(cwd, environment, { trustedOnce: overrides.trustedOnce });
  const loaded = withHostLimit(withServers(configured, overrides.mcpServers));
  return new ProjectHarness(cwd, environment, loaded, overrides);
}

function withServers(loaded: LoadedConfig, added: LoadedConfig["config"]["mcpServers"]): LoadedConfig {
  if (!added) return loaded;
  const { config, servers } = loaded;
  const mcpServers = { ...config.mcpServers, ...added };
  const project = servers.project.filter((name) => !(name in added));
  return { ...loaded, config: { ...config, mcpServers }, servers: { ...servers, project } };
}

/**
 * Where the process is limited to some hosts, commands and servers only run in a sandbox, whose connections are
 * checked; modules, which run in the process itself, do not run.
 */
function withHostLimit(loaded: LoadedConfig): LoadedConfig {
  if (!hasHostLimit()) return loaded;
  const { config, projectExtensions, warnings } = loaded;
  const modules = [...(config.extensions ?? []), ...projectExtensions];
  const warning = {
    code: "modules_not_limited",
    message: `Not loaded, because --only-host cannot limit modules: ${modules.join(", ")}`,
  };
  return {
    ...loaded,
    config: { ...config, sandbox: "required", extensions: [] },
    projectExtensions: [],
    warnings: modules.length === 0 ? warnings : [...warnings, warning],
  };
}

/** Composes the sessions of the program's own front ends. */
export class ProjectHarness implements Harness {
  private readonly commandSets = new Set<SessionCommands>();
  private readonly sessions = new Set<ProjectSession>();
  /** The ends of the commands of sessions that were closed. */
  private readonly endings: Promise<void>[] = [];
  private readonly extensions: HarnessExtensions;
  private trust: Promise<ProjectTrust> | undefined;
  private plugins: Promise<ActivePlugins> | undefined;
  /** What the sub-agents of each open session take over. */
  private readonly parents = new Map<SessionManager, ParentSession>();
  private readonly agentSets = new Map<string, SessionAgents>();

  constructor(
    readonly cwd: string,
    readonly environment: Environment,
    readonly loaded: LoadedConfig,
    private readonly overrides: ProjectOverrides,
  ) {
    this.extensions = new HarnessExtensions(overrides.extensions ?? [], {
      cwd,
      environment,
      loaded,
      isPersistent: overrides.persist ?? true,
      requiredEvidence: overrides.requiredEvidence,
      trust: () => this.openTrust(),
      plugins: () => this.openPlugins(),
      harness: this,
      hasBuiltinTools: overrides.builtinTools ?? true,
      agentsOf: (sessionId) => this.agentsOf(sessionId),
      openAgent: (parent, call) => this.openAgent(parent, call),
    });
  }

  get commands(): readonly ExtensionCommand[] {
    return this.extensions.all.flatMap(({ commands = [] }) => commands);
  }

  private get untrustedCommands(): readonly string[] {
    return this.extensions.all.flatMap(({ untrustedCommands = [] }) => untrustedCommands);
  }

  async openSession(start: ProjectStart, choices: ProjectChoices = {}): Promise<ProjectSession> {
    const { cwd, environment, loaded, overrides } = this;
    const { config } = loaded;
    const commands = this.openCommands(choices.commands);
    const { networkUsers } = commands;
    const { sandbox, temporaryDirectory } = commands;
    // Before the project's instructions are read: commands of a killed session could have created them.
    await sandbox.recover();
    this.commandSets.add(commands);
    const toolLists = await openToolLists(overrides);
    const cutFiles: string[] = [];
    const redactor = await this.openRedactor((message) => cutFiles.push(message));
    const extensions = await this.extensions.open();
    let checkpoints: ComposedSession["checkpoints"] | undefined;
    const { approval, grants, approve, protectedAccess } = openApprovals({
      cwd,
      environment,
      loaded,
      redactor,
      temporaryDirectory,
      sandbox,
      canUndo: () => checkpoints?.canUndoEverything ?? true,
      canRestoreHistory: () => checkpoints?.canRestoreHistory ?? true,
      prepareUndo: () => checkpoints?.preparation.ensureRecorded(),
      initial: overrides.approvalMode ?? config.approval ?? overrides.defaultApprovalMode ?? "deny",
      mode: choices.approvalMode,
      grants: choices.grants,
      ask: choices.ask,
      extensions,
      toolLists,
      addedDirectories: overrides.addedDirectories,
      warn: (message) => overrides.warn?.(message, "approvals"),
    });
    const recording = choices.recording ?? (await this.openRecording());
    const composed = await composeSession({
      ...this.commonOptions(extensions, toolLists),
      start: this.resolveStart(start),
      redactor,
      model: choices.model,
      effort: choices.effort,
      retryForMs: choices.retryForMs,
      recording,
      commands,
      askUser: choices.askUser,
      editor: choices.editor,
      grants,
      currentMode: () => approval.mode,
      isAttended: choices.ask !== undefined,
      isReplacing: choices.isReplacing,
      currentRules: () => approval.rules,
      approve,
      protectedAccess,
    });
    checkpoints = composed.checkpoints;
    const networkLog = new NetworkLog(composed.session, composed.redactor);
    // From now on, this session's: it may have taken the commands of another one over.
    networkUsers.log = networkLog;
    networkUsers.askForHost =
      choices.ask &&
      createSessionHostQuestion({ approve, session: composed.session, redactor: composed.redactor });
    if (overrides.persist ?? true) grants.saveFor(composed.session.sessionId);
    this.parents.set(composed.session, {
      ...{ approval, approve, protectedAccess, composed, commands, recording, depth: 0 },
      editor: choices.editor,
      retryForMs: choices.retryForMs,
      isAttended: choices.ask !== undefined,
    });
    const trust = await this.trust;
    composed.notices.push(
      ...cutFiles.map((message) => ({ level: "warning" as const, code: "secrets_file", message })),
    );
    composed.notices.push(...(trust?.describe().map(toNotice) ?? []));
    const opened = this.toSession(composed, trust, { approval, grants, recording, commands, networkLog });
    this.sessions.add(opened);
    return opened;
  }

  /** What finds secrets is loaded here: before a session has anything to save or to send. */
  private async openRedactor(warn: (message: string) => void): Promise<SecretRedactor> {
    const { environment, loaded } = this;
    const redactor = new SecretRedactor(loaded.secrets);
    const { maskSecrets } = await import("../extensions/secrets/mask-secrets.ts");
    const { projectRoot: root, config } = loaded;
    maskSecrets(redactor, { environment, root, warn, settings: config.secrets });
    return redactor;
  }

  private openTrust(): Promise<ProjectTrust> {
    const { environment, loaded, overrides } = this;
    this.trust ??= import("./trust.ts").then(({ openProjectTrust }) =>
      openProjectTrust(loaded, { environment, trustedOnce: overrides.trustedOnce }),
    );
    return this.trust;
  }

  private openPlugins(): Promise<ActivePlugins> {
    this.plugins ??= readPlugins(this.environment);
    return this.plugins;
  }

  flush(): void {
    for (const session of this.parents.keys()) session.flush();
  }

  /** Ends the processes that tools have started in this program, and those of the sandboxes. */
  async endProcesses(): Promise<void> {
    await this.extensions.settle();
    // Their processes end by themselves if they are asked to first.
    await this.extensions.close();
    await endAllProcesses();
    await Promise.all(this.endings.splice(0));
    for (const commands of this.commandSets) await commands.close();
  }

  /** Removes the temporary files of every session; for a program that must exit immediately. */
  removeTemporaryFiles(): void {
    for (const { temporaryDirectory } of this.commandSets) temporaryDirectory.remove();
  }

  async close(): Promise<void> {
    for (const session of [...this.sessions]) session.close();
    await this.endProcesses();
    await this.extensions.close();
    this.removeTemporaryFiles();
  }

  private agentsOf(sessionId: string): SessionAgents {
    const known = this.agentSets.get(sessionId);
    const agents = known ?? new SessionAgents();
    if (!known) this.agentSets.set(sessionId, agents);
    return agents;
  }

  private async openAgent(session: SessionManager, call: AgentCall): Promise<AgentSession> {
    const parent = this.parents.get(session);
    if (!parent) throw new Error("The session of this task is closed.");
    const { openChildSession } = await import("./child-session.ts");
    const extensions = await this.extensions.open();
    const { child, asParent } = await openChildSession(
      call,
      parent,
      this.commonOptions(extensions, await openToolLists(this.overrides)),
    );
    this.parents.set(child.session, asParent);
    return {
      ...child,
      close: () => {
        this.parents.delete(child.session);
        this.agentsOf(child.session.sessionId).stopAll();
        return child.close();
      },
    };
  }

  /** What all sessions have in common. */
  private commonOptions(extensions: readonly HarnessExtension[], toolLists: ToolLists | undefined) {
    const { cwd, environment, loaded, overrides } = this;
    const persist = overrides.persist ?? true;
    return { ...overrides, extensions, toolLists, persist, cwd, environment, loaded };
  }

  private resolveStart(start: ProjectStart): ProjectStart {
    if (!("automatic" in start) || this.loaded.config.session?.autoResume) return start;
    return { fresh: true };
  }

  private openCommands(before: SessionCommands | undefined): SessionCommands {
    const { config, projectRoot } = this.loaded;
    const settings = {
      setting: config.sandbox ?? "auto",
      environment: this.environment,
      root: projectRoot,
      writable: [...(config.sandboxWritable ?? []), ...(this.overrides.addedDirectories ?? [])],
      network: {
        setting: this.overrides.sandboxNetwork ?? config.sandboxNetwork ?? "off",
        isChosen: (this.overrides.sandboxNetwork ?? config.sandboxNetwork) !== undefined,
      },
      notify: (message: string) => this.overrides.warn?.(message, "sandbox"),
    };
    return before?.continueUnder(settings) ?? new SessionCommands(settings);
  }

  private async openRecording(): Promise<Recording | undefined> {
    const { record, warn } = this.overrides;
    if (record === undefined) return undefined;
    const { openRecording } = await import("./scripts.ts");
    return openRecording(record, { cwd: this.cwd, warn: (message) => warn?.(message, "recording") });
  }

  private toSession(
    composed: ComposedSession,
    trust: ProjectTrust | undefined,
    {
      networkLog,
      ...parts
    }: Pick<ProjectSession, "approval" | "grants" | "recording" | "commands"> & { networkLog: NetworkLog },
  ): ProjectSession {
    const { cwd, environment, loaded, overrides, sessions, commandSets, endings } = this;
    const { config, projectRoot: root } = loaded;
    const { commands } = parts;
    const { jobs, temporaryDirectory } = commands;
    const listCommands = () => this.commands;
    const opened: ProjectSession = {
      ...composed,
      ...parts,
      jobs,
      agents: this.agentsOf(composed.session.sessionId),
      sandbox: commands.summary,
      cwd,
      loaded,
      networkRecords() {
        return readNetworkRecords(composed.session.branches.entries, networkLog.unsaved);
      },
      reloadRules: () => this.reloadRules(opened),
      hasWaitingDefinitions: trust?.isWaiting ?? false,
      projectTrust: () => this.openTrust(),
      addedModels: nameAddedModels(this.extensions.all.flatMap(({ providers = [] }) => [...providers])),
      renderers: new Map(this.extensions.all.flatMap(({ renderers = [] }) => [...renderers])),
      get extensionCommands() {
        return listCommands();
      },
      readMention: async (mention, signal) => {
        for (const extension of this.extensions.all) {
          const found = await extension.readMention?.(mention, signal);
          if (found) return composed.redactor.redact(found);
        }
        return undefined;
      },
      listMentions: () => this.extensions.all.flatMap((extension) => extension.listMentions?.() ?? []),
      untrustedCommands: this.untrustedCommands,
      expandLine: async (text, signal) => {
        const { commands, untrustedCommands: untrusted } = this;
        if (commands.length + untrusted.length === 0) return undefined;
        const expanded = await expandLine(text, { commands, untrusted, session: composed.scope, signal });
        // The text of a skill or of a command's file is not the user's.
        if (expanded?.kind === "prompt") composed.redactor.noteForeign(expanded.text);
        return expanded;
      },
      gitBranch: readGitBranch(root),
      chosen: {},
      workspace: {
        cwd,
        root,
        environment,
        inheritEnvironment: config.inheritEnvironment,
        sessionId: composed.session.sessionId,
        files: new FileTracker(),
        outputDirectory: () => temporaryDirectory.path(),
        jobs,
        noteUnseen: (process) => commands.networkUsers.addUnseen(process),
      },
      createBudget: () => new SharedBudget(composed.session.runLimits),
      noteInput(text) {
        if (overrides.persist === false || text === overrides.unrecordedPrompt) return;
        appendInputHistory(environment, { cwd, text: composed.redactor.redact(text) }, () => {
          const { noteUsedProjects }: typeof import("../session/history/search/known-projects.ts") =
            require("../session/history/search/known-projects.ts");
          noteUsedProjects(environment);
        });
      },
      async changeModel(change) {
        const model = await composed.changeModel(change);
        const { modelId = opened.chosen.modelId, effort = opened.chosen.effort } = change;
        opened.model = model ?? opened.model;
        opened.effort = change.effort ?? opened.effort;
        opened.chosen = { modelId, effort };
        return model;
      },
      close: ({ keepsCommands = false, ending } = {}) => {
        if (!sessions.delete(opened)) return;
        if (!keepsCommands) commands.sandbox.endConnections();
        networkLog.close();
        this.parents.delete(composed.session);
        opened.agents.stopAll();
        composed.close(ending);
        if (keepsCommands) commandSets.delete(commands);
        else endings.push(commands.end(this.extensions.settle()));
      },
    };
    return opened;
  }

  private async reloadRules(opened: ProjectSession): Promise<void> {
    const { addedDirectories, trustedOnce } = this.overrides;
    const { config, origins } = await loadConfig(this.cwd, this.environment, { trustedOnce });
    const { permissions } = config;
    const { loaded } = opened;
    opened.approval.rules = toRules(permissions, addedDirectories);
    opened.loaded = {
      ...loaded,
      config: { ...loaded.config, permissions },
      origins: { ...loaded.origins, permissions: origins.permissions ?? "default" },
    };
  }
}

/** The code is only loaded if there are lists. @throws UsageError for text that is not a list. */
async function openToolLists({
  allowedTools: allowed,
  disallowedTools: disallowed,
}: ProjectOverrides): Promise<ToolLists | undefined> {
  if (!allowed && !disallowed) return undefined;
  const { ToolLists } = await import("../approval/tool-lists.ts");
  try {
    return new ToolLists({ allowed, disallowed });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`not a tool: ${error.message}; write names such as edit, or bash(git log *)`);
  }
}
