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

/** Where a harness works, and what a front end wants of it. */
export interface HarnessOptions {
  /** Absolute and real. */
  cwd: string;
  /** That of this process when left out. */
  environment?: Environment | undefined;
  overrides?: HarnessOverrides | undefined;
}

/** What one front end wants of all sessions, in place of or beyond what is configured. */
export interface HarnessOverrides extends SessionSettings {
  /** How requests are treated, whatever is configured. */
  approvalMode?: ApprovalMode | undefined;
  /** How they are treated where nothing is configured; `deny` when left out. */
  defaultApprovalMode?: ApprovalMode | undefined;
  /** Where the models' replies are kept as a script; absolute, or relative to `cwd`. */
  record?: string | undefined;
  /** A project that counts as trusted until the program ends. */
  trustedOnce?: LoadOptions["trustedOnce"];
  /** A prompt that is not kept in the input history. */
  unrecordedPrompt?: string | undefined;
  /**
   * Called with what is wrong beside the conversation. `sandbox`: the message may hold text of a command, to be shown
   * escaped.
   */
  warn?(message: string, topic: "approvals" | "recording" | "sandbox"): void;
}

/** How one session is opened; what is left out is as configured. */
export interface SessionChoices {
  /** An id or alias, or a model of the caller's own with the way to ask it. */
  model?: string | ModelChoice | undefined;
  effort?: Effort | undefined;
  /** In place of the mode of the harness. */
  approvalMode?: ApprovalMode | undefined;
  /** Where questions go; left out where nobody is there to answer. */
  ask?: AskPerson | undefined;
  /** The answers of a session that this one replaces; those that were kept when left out. */
  grants?: GrantStore | undefined;
  /** What the models' replies are kept in already. */
  recording?: Recording | undefined;
}

/** A session to run prompts in. Whoever has it closes it. */
export interface HarnessSession extends ComposedSession, Pick<Approvals, "approval" | "grants"> {
  /** Where it works, absolute and real. */
  cwd: string;
  /** What holds for this project. */
  loaded: LoadedConfig;
  /** The branch that is checked out, where there is one. */
  gitBranch: string | undefined;
  /** Whether commands run in a sandbox. */
  sandbox: SandboxSummary;
  /**
   * Applies the permission rules as the configuration files have them by now.
   * @throws UsageError when one of the files is broken: the rules are as they were then.
   */
  reloadRules(): Promise<void>;
  /** What the user has changed since it was opened. */
  chosen: ModelChange;
  /** What the models' replies are kept in, where they are. */
  recording: Recording | undefined;
  /** Where commands run that the user types themselves: never in a sandbox. */
  workspace: Workspace;
  /** Keeps a prompt in the input history, before there is anything else to find it by. */
  noteInput(text: string): void;
}

/** What composes sessions in one directory, for any front end. */
export interface Harness {
  readonly cwd: string;
  readonly environment: Environment;
  /** The configuration that holds there, as it was when the harness was made. */
  readonly loaded: LoadedConfig;
  /** Those of all extensions. */
  readonly commands: readonly ExtensionCommand[];
  /** @throws UsageError when it cannot be opened as asked: nothing was sent then. */
  openSession(start: SessionStart, choices?: SessionChoices): Promise<HarnessSession>;
  /** Saves what there is of every session. */
  flush(): void;
  /** Ends the processes that tools have started in this program, and what the sandboxes needed. */
  endProcesses(): Promise<void>;
  /** Removes the temporary files of every session; for the very end of a program that cannot wait. */
  removeTemporaryFiles(): void;
  /** Closes the sessions that are still open and the extensions, and ends the processes. */
  close(): Promise<void>;
}

/**
 * Reads the configuration of a directory; sessions are composed of it.
 * @throws UsageError when a configuration file is broken.
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
    // Before the project's instructions are read: they could be what a killed session's commands made.
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
      makeUndoReady: () => checkpoints?.preparation.makeReady(),
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

/** Whether the commands of a session run in a sandbox, as far as it is known: it is tried with the first of them. */
export class SandboxSummary {
  /** Called when there turns out to be none though one was expected. */
  onChange: (() => void) | undefined;
  /** Why there is none, once it was tried. */
  private problem: string | undefined;

  constructor(private readonly sandbox: SessionSandbox) {}

  get isSandboxed(): boolean {
    return this.problem === undefined && this.sandbox.isExpected;
  }

  /** A sentence, with the reason where there is none. */
  get text(): string {
    const { setting, startProblem } = this.sandbox;
    if (this.isSandboxed) return "Commands run in a sandbox.";
    if (this.problem === undefined)
      return (
        startProblem ?? 'Commands run without a sandbox, and ask before: the setting "sandbox" is "off".'
      );
    return setting === "required"
      ? `No command runs: the setting "sandbox" is "required", and ${this.problem}.`
      : `Commands run without a sandbox, and ask before: ${this.problem}.`;
  }

  /** Finds out whether there is one. */
  async check(): Promise<void> {
    // What goes wrong here goes wrong with the next command, which says it.
    const state = await this.sandbox.sandboxState().catch(() => undefined);
    if (!state || state.kind === "boxed" || state.problem === undefined || !this.isSandboxed) return;
    this.problem = state.problem;
    this.onChange?.();
  }
}
