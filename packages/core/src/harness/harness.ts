import type { GrantStore } from "../approval/grant-store.ts";
import type { ApprovalMode } from "../approval/types.ts";
import type { LoadedConfig, LoadOptions } from "../config/loader.ts";
import { appendInputHistory } from "../infrastructure/fs/input-history.ts";
import { SessionTempDir } from "../infrastructure/fs/state-files.ts";
import { readGitBranch } from "../infrastructure/paths/git.ts";
import { endAllProcesses } from "../infrastructure/process/all-processes.ts";
import { type Environment, processEnvironment } from "../infrastructure/runtime.ts";
import type { Recording } from "../provider/scripted.ts";
import type { Effort } from "../provider/types.ts";
import { SessionSandbox } from "../sandbox/session-sandbox.ts";
import { FileTracker, type Workspace } from "../tools/workspace.ts";
import { type Approvals, type AskPerson, openApprovals } from "./approve.ts";
import { type ComposedSession, composeSession, type SessionSettings } from "./compose-session.ts";
import type { SessionStart } from "./earlier-session.ts";
import type { ExtensionCommand } from "./extension.ts";
import { loadConfig } from "./load-config.ts";
import type { ModelChange, ModelChoice } from "./models.ts";

/** The location of a harness and the settings of its front end. */
export interface HarnessOptions {
  /** Absolute and real. */
  cwd: string;
  /** The environment variables; those of this process when left out. */
  environment?: Environment | undefined;
  overrides?: HarnessOverrides | undefined;
}

/** The settings of one front end that override or extend the configuration. */
export interface HarnessOverrides extends SessionSettings {
  /** The approval mode, whatever is configured. */
  approvalMode?: ApprovalMode | undefined;
  /** The approval mode if none is configured; `deny` when left out. */
  defaultApprovalMode?: ApprovalMode | undefined;
  /** The file in which the models' replies are recorded as a script; absolute, or relative to `cwd`. */
  record?: string | undefined;
  /** A project that is trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
  /** A prompt that is not added to the input history. */
  unrecordedPrompt?: string | undefined;
  /**
   * Called for problems outside the conversation. `sandbox`: the message may contain text of a command, and must be
   * escaped.
   */
  warn?(message: string, topic: "approvals" | "recording" | "sandbox"): void;
}

/** How one session is opened; settings that are left out come from the configuration. */
export interface SessionChoices {
  /** An id or alias, or a custom model with its stream function. */
  model?: string | ModelChoice | undefined;
  effort?: Effort | undefined;
  /** Replaces the harness's mode. */
  approvalMode?: ApprovalMode | undefined;
  /** Asks the user; left out when no user is present. */
  ask?: AskPerson | undefined;
  /** The grants of the session that this one replaces; the saved ones when left out. */
  grants?: GrantStore | undefined;
  /** The existing recording of the models' replies. */
  recording?: Recording | undefined;
}

/** A session to run prompts in. The caller closes it. */
export interface HarnessSession extends ComposedSession, Pick<Approvals, "approval" | "grants"> {
  /** The working directory, absolute and real. */
  cwd: string;
  /** The configuration of this project. */
  loaded: LoadedConfig;
  /** The current branch, if there is one. */
  gitBranch: string | undefined;
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

/** Composes sessions in one directory, for any front end. */
export interface Harness {
  readonly cwd: string;
  readonly environment: Environment;
  /** The configuration of the directory when the harness was created. */
  readonly loaded: LoadedConfig;
  /** The commands of all extensions. */
  readonly commands: readonly ExtensionCommand[];
  /** @throws UsageError when the session cannot be opened: nothing was sent then. */
  openSession(start: SessionStart, choices?: SessionChoices): Promise<HarnessSession>;
  /** Writes the pending entries of every session. */
  flush(): void;
  /** Ends the processes that tools have started in this program, and those of the sandboxes. */
  endProcesses(): Promise<void>;
  /** Removes the temporary files of every session; for a program that must exit immediately. */
  removeTemporaryFiles(): void;
  /** Closes all open sessions and extensions, and ends their processes. */
  close(): Promise<void>;
}

/**
 * Reads the configuration of a directory and creates its harness.
 * @throws UsageError when a configuration file is invalid.
 */
export async function createHarness({
  cwd,
  environment = processEnvironment(),
  overrides = {},
}: HarnessOptions): Promise<Harness> {
  const loaded = await loadConfig(cwd, environment, { trustedOnce: overrides.trustedOnce });
  return new ProjectHarness(cwd, environment, loaded, overrides);
}

class ProjectHarness implements Harness {
  private readonly temporaryDirectories = new Set<SessionTempDir>();
  private readonly sandboxes = new Set<SessionSandbox>();
  private readonly sessions = new Set<HarnessSession>();

  constructor(
    readonly cwd: string,
    readonly environment: Environment,
    readonly loaded: LoadedConfig,
    private readonly overrides: HarnessOverrides,
  ) {}

  get commands(): readonly ExtensionCommand[] {
    return (this.overrides.extensions ?? []).flatMap(({ commands = [] }) => commands);
  }

  async openSession(start: SessionStart, choices: SessionChoices = {}): Promise<HarnessSession> {
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

  async endProcesses(): Promise<void> {
    await endAllProcesses();
    for (const sandbox of this.sandboxes) await sandbox.close();
  }

  removeTemporaryFiles(): void {
    for (const directory of this.temporaryDirectories) directory.remove();
  }

  async close(): Promise<void> {
    for (const session of [...this.sessions]) session.close();
    await this.endProcesses();
    for (const extension of this.overrides.extensions ?? []) await extension.close();
    this.removeTemporaryFiles();
  }

  private resolveStart(start: SessionStart): SessionStart {
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
    parts: Pick<HarnessSession, "approval" | "grants" | "sandbox" | "recording"> & {
      temporaryDirectory: SessionTempDir;
    },
  ): HarnessSession {
    const { cwd, environment, loaded, overrides, sessions } = this;
    const { config, projectRoot: root } = loaded;
    const { temporaryDirectory, ...shared } = parts;
    const opened: HarnessSession = {
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

  private async reloadRules(opened: HarnessSession): Promise<void> {
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
