import type { GrantStore } from "../approval/grant-store.ts";
import type { LoadedConfig, LoadOptions } from "../config/loader.ts";
import { appendInputHistory } from "../infrastructure/fs/input-history.ts";
import { SessionTempDir } from "../infrastructure/fs/state-files.ts";
import { readGitBranch } from "../infrastructure/paths/git.ts";
import { endAllProcesses } from "../infrastructure/process/all-processes.ts";
import { type Environment, processEnvironment } from "../infrastructure/runtime.ts";
import type { Recording } from "../provider/scripted.ts";
import { SessionSandbox } from "../sandbox/session-sandbox.ts";
import { FileTracker, type Workspace } from "../tools/workspace.ts";
import { type Approvals, openApprovals } from "./approve.ts";
import { type ComposedSession, composeSession, type SessionSettings } from "./compose-session.ts";
import type { ProjectStart } from "./earlier-session.ts";
import { loadConfig } from "./load-config.ts";
import type {
  ExtensionCommand,
  Harness,
  HarnessOptions,
  HarnessOverrides,
  HarnessSession,
  ModelChange,
  SessionChoices,
} from "./types.ts";

/** See `HarnessOptions`. */
export interface ProjectHarnessOptions extends Omit<HarnessOptions, "overrides"> {
  overrides?: ProjectOverrides | undefined;
}

/** The settings of the program's own front ends. */
export interface ProjectOverrides extends HarnessOverrides, SessionSettings {
  /** A project that is trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
  /** A prompt that is not added to the input history. */
  unrecordedPrompt?: string | undefined;
}

/** How the program opens one session. */
export interface ProjectChoices extends SessionChoices {
  /** The grants of the session that this one replaces; the saved ones when left out. */
  grants?: GrantStore | undefined;
  /** The existing recording of the models' replies. */
  recording?: Recording | undefined;
}

/** A session with everything that the program's own front ends show and change. */
export interface ProjectSession
  extends Omit<HarnessSession, "approval">,
    Omit<ComposedSession, keyof HarnessSession>,
    Pick<Approvals, "grants"> {
  approval: Approvals["approval"];
  /** The configuration of this project. */
  loaded: LoadedConfig;
  /** Whether commands run in a sandbox. */
  sandbox: SandboxSummary;
  /**
   * Reads the permission rules from the configuration files again.
   * @throws UsageError when one of the files is invalid: the rules are unchanged then.
   */
  reloadRules(): Promise<void>;
  /** The user's changes since the session was opened. */
  chosen: ModelChange;
  /** The recording of the models' replies, if there is one. */
  recording: Recording | undefined;
  /** The workspace for commands that the user enters: never in a sandbox. */
  workspace: Workspace;
  /** Adds a prompt to the input history, before the session has any other entry. */
  noteInput(text: string): void;
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
  const loaded = await loadConfig(cwd, environment, { trustedOnce: overrides.trustedOnce });
  return new ProjectHarness(cwd, environment, loaded, overrides);
}

/** Composes the sessions of the program's own front ends. */
export class ProjectHarness implements Harness {
  private readonly temporaryDirectories = new Set<SessionTempDir>();
  private readonly sandboxes = new Set<SessionSandbox>();
  private readonly sessions = new Set<ProjectSession>();

  constructor(
    readonly cwd: string,
    readonly environment: Environment,
    readonly loaded: LoadedConfig,
    private readonly overrides: ProjectOverrides,
  ) {}

  get commands(): readonly ExtensionCommand[] {
    return (this.overrides.extensions ?? []).flatMap(({ commands = [] }) => commands);
  }

  async openSession(start: ProjectStart, choices: ProjectChoices = {}): Promise<ProjectSession> {
    const { cwd, environment, loaded, overrides } = this;
    const { config } = loaded;
    const temporaryDirectory = new SessionTempDir();
    const { sandbox, summary } = this.openSandbox(temporaryDirectory);
    // Before the project's instructions are read: commands of a killed session could have created them.
    await sandbox.recover();
    this.sandboxes.add(sandbox);
    this.temporaryDirectories.add(temporaryDirectory);
    let checkpoints: ComposedSession["checkpoints"] | undefined;
    const { approval, grants, approve } = openApprovals({
      cwd,
      environment,
      loaded,
      temporaryDirectory,
      sandbox,
      canUndo: () => checkpoints?.canUndoEverything ?? true,
      canRestoreHistory: () => checkpoints?.canRestoreHistory ?? true,
      prepareUndo: () => checkpoints?.preparation.ensureRecorded(),
      initial: overrides.approvalMode ?? config.approval ?? overrides.defaultApprovalMode ?? "deny",
      mode: choices.approvalMode,
      grants: choices.grants,
      ask: choices.ask,
      extensions: overrides.extensions,
      warn: (message) => overrides.warn?.(message, "approvals"),
    });
    const recording = choices.recording ?? (await this.openRecording());
    const persist = overrides.persist ?? true;
    const composed = await composeSession(
      {
        ...overrides,
        persist,
        cwd,
        environment,
        loaded,
        start: this.resolveStart(start),
        model: choices.model,
        effort: choices.effort,
        recording,
        sandbox,
        approvalMode: approval.mode,
        approve,
      },
      temporaryDirectory,
    );
    checkpoints = composed.checkpoints;
    if (persist) grants.saveFor(composed.session.sessionId);
    const opened = this.toSession(composed, {
      approval,
      grants,
      sandbox: summary,
      recording,
      temporaryDirectory,
    });
    this.sessions.add(opened);
    return opened;
  }

  flush(): void {
    for (const { session } of this.sessions) session.flush();
  }

  /** Ends the processes that tools have started in this program, and those of the sandboxes. */
  async endProcesses(): Promise<void> {
    await endAllProcesses();
    for (const sandbox of this.sandboxes) await sandbox.close();
  }

  /** Removes the temporary files of every session; for a program that must exit immediately. */
  removeTemporaryFiles(): void {
    for (const directory of this.temporaryDirectories) directory.remove();
  }

  async close(): Promise<void> {
    for (const session of [...this.sessions]) session.close();
    await this.endProcesses();
    for (const extension of this.overrides.extensions ?? []) await extension.close();
    this.removeTemporaryFiles();
  }

  private resolveStart(start: ProjectStart): ProjectStart {
    if (!("automatic" in start) || this.loaded.config.session?.autoResume) return start;
    return { fresh: true };
  }

  private openSandbox(temporaryDirectory: SessionTempDir): {
    sandbox: SessionSandbox;
    summary: SandboxSummary;
  } {
    const { config, projectRoot } = this.loaded;
    const sandbox = new SessionSandbox({
      setting: config.sandbox ?? "auto",
      environment: this.environment,
      root: projectRoot,
      writable: config.sandboxWritable,
      directory: () => temporaryDirectory.path(),
      notify: (message) => {
        this.overrides.warn?.(message, "sandbox");
        void summary.check();
      },
    });
    const summary = new SandboxSummary(sandbox);
    return { sandbox, summary };
  }

  private async openRecording(): Promise<Recording | undefined> {
    const { record, warn } = this.overrides;
    if (record === undefined) return undefined;
    const { openRecording } = await import("./scripts.ts");
    return openRecording(record, { cwd: this.cwd, warn: (message) => warn?.(message, "recording") });
  }

  private toSession(
    composed: ComposedSession,
    parts: Pick<ProjectSession, "approval" | "grants" | "sandbox" | "recording"> & {
      temporaryDirectory: SessionTempDir;
    },
  ): ProjectSession {
    const { cwd, environment, loaded, overrides, sessions } = this;
    const { config, projectRoot: root } = loaded;
    const { temporaryDirectory, ...shared } = parts;
    const opened: ProjectSession = {
      ...composed,
      ...shared,
      cwd,
      loaded,
      reloadRules: () => this.reloadRules(opened),
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
      },
      noteInput(text) {
        if (overrides.persist === false || text === overrides.unrecordedPrompt) return;
        appendInputHistory(environment, { cwd, text: composed.redactor.redact(text) });
      },
      async changeModel(change) {
        const model = await composed.changeModel(change);
        const { modelId = opened.chosen.modelId, effort = opened.chosen.effort } = change;
        opened.model = model ?? opened.model;
        opened.effort = change.effort ?? opened.effort;
        opened.chosen = { modelId, effort };
        return model;
      },
      close() {
        sessions.delete(opened);
        composed.close();
      },
    };
    return opened;
  }

  private async reloadRules(opened: ProjectSession): Promise<void> {
    const { trustedOnce } = this.overrides;
    const { config, origins } = await loadConfig(this.cwd, this.environment, { trustedOnce });
    const { permissions } = config;
    const { loaded } = opened;
    opened.approval.rules = permissions ?? [];
    opened.loaded = {
      ...loaded,
      config: { ...loaded.config, permissions },
      origins: { ...loaded.origins, permissions: origins.permissions ?? "default" },
    };
  }
}

/**
 * Whether the commands of a session run in a sandbox, as far as known: the sandbox is tested with the first command.
 */
export class SandboxSummary {
  /** Called when the expected sandbox turns out to be unavailable. */
  onChange: (() => void) | undefined;
  /** The reason why there is no sandbox, once it was tested. */
  private problem: string | undefined;

  constructor(private readonly sandbox: SessionSandbox) {}

  get isSandboxed(): boolean {
    return this.problem === undefined && this.sandbox.isExpected;
  }

  /** A sentence, with the reason if there is no sandbox. */
  get text(): string {
    const { setting, startProblem } = this.sandbox;
    if (this.isSandboxed) return "Commands run in a sandbox.";
    if (this.problem === undefined)
      return startProblem ?? 'Commands run unsandboxed and need approval: the setting "sandbox" is "off".';
    return setting === "required"
      ? `No commands can run: the setting "sandbox" is "required", and ${this.problem}.`
      : `Commands run unsandboxed and need approval: ${this.problem}.`;
  }

  /** Tests whether there is a sandbox. */
  async check(): Promise<void> {
    // A failure here recurs with the next command, which reports it.
    const state = await this.sandbox.sandboxState().catch(() => undefined);
    if (!state || state.kind === "boxed" || state.problem === undefined || !this.isSandboxed) return;
    this.problem = state.problem;
    this.onChange?.();
  }
}
