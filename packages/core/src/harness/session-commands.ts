import { SessionTempDir } from "../infrastructure/fs/state-files.ts";
import type {
  NetworkConnection,
  TrafficWatcher,
  UnseenProcess,
} from "../infrastructure/network/connection.ts";
import { SessionJobs } from "../jobs/session-jobs.ts";
import {
  describeRequirement,
  type NetworkOptions,
  type SandboxOptions,
  SessionSandbox,
} from "../sandbox/session-sandbox.ts";

/** Decides how commands run; see `SandboxOptions`. */
interface SandboxSettings extends Omit<SandboxOptions, "directory" | "network"> {
  network: Pick<NetworkOptions, "setting" | "isChosen">;
}

/** The session that is asked about hosts, and to which connections are reported. Its sub-agents share it. */
export class NetworkUsers implements TrafficWatcher {
  askForHost: NetworkOptions["askForHost"];
  private current: TrafficWatcher | undefined;
  private early: ((log: TrafficWatcher) => void)[] = [];

  /** Receives everything from now on, and what was reported before there was one. */
  set log(log: TrafficWatcher) {
    this.current = log;
    for (const report of this.early.splice(0)) report(log);
  }

  add(connection: NetworkConnection): void {
    this.report((log) => log.add(connection));
  }

  watch(connection: NetworkConnection, ended: Promise<void>): void {
    this.report((log) => log.watch(connection, ended));
  }

  addUnseen(process: UnseenProcess): void {
    this.report((log) => log.addUnseen(process));
  }

  private report(report: (log: TrafficWatcher) => void): void {
    if (this.current) report(this.current);
    else this.early.push(report);
  }
}

/**
 * Where the commands of a session run, and those that run in the background. A session that replaces this one, such as
 * the same one after a reload, can take it over: its jobs continue then.
 */
export class SessionCommands {
  readonly jobs: SessionJobs;
  readonly temporaryDirectory: SessionTempDir;
  readonly sandbox: SessionSandbox;
  readonly summary: SandboxSummary;
  /** A session that takes the commands over sets all of them. */
  readonly networkUsers: NetworkUsers;
  private closing: Promise<void> | undefined;

  /** @param before whose jobs, temporary files and processes become those of this one. */
  constructor(
    private readonly settings: SandboxSettings,
    private readonly before?: SessionCommands,
  ) {
    this.jobs = before?.jobs ?? new SessionJobs();
    this.temporaryDirectory = before?.temporaryDirectory ?? new SessionTempDir();
    this.networkUsers = before?.networkUsers ?? new NetworkUsers();
    const { notify } = settings;
    this.sandbox = new SessionSandbox({
      ...settings,
      network: {
        ...settings.network,
        askForHost: async (...wanted) => (await this.networkUsers.askForHost?.(...wanted)) ?? false,
        onConnection: (connection) => this.networkUsers.add(connection),
      },
      directory: () => this.temporaryDirectory.path(),
      notify: (message) => {
        notify?.(message);
        void this.summary.check();
      },
    });
    this.summary = new SandboxSummary(this.sandbox);
  }

  /** The same commands under these settings, which may demand another sandbox: jobs then stay in theirs. */
  continueUnder(settings: SandboxSettings): SessionCommands {
    const { setting, root, writable = [], network } = this.settings;
    const isSame =
      settings.setting === setting &&
      settings.root === root &&
      Bun.deepEquals(settings.network, network) &&
      Bun.deepEquals(settings.writable ?? [], writable);
    return isSame ? this : new SessionCommands(settings, this);
  }

  /**
   * Ends what runs, and removes the temporary files.
   * @param lastWork what still runs for the session when it is closed, such as hooks that are told of its end.
   */
  async end(lastWork: Promise<void>): Promise<void> {
    await this.jobs.endAll();
    await lastWork;
    await this.endProcesses();
    this.temporaryDirectory.remove();
  }

  /** Call this at the end of the program, when nothing runs any more. */
  close(): Promise<void> {
    this.closing ??= Promise.all([this.before?.close(), this.sandbox.close()]).then(() => {});
    return this.closing;
  }

  private async endProcesses(): Promise<void> {
    await Promise.all([this.before?.endProcesses(), this.sandbox.endProcesses()]);
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
      ? `No commands can run: ${describeRequirement()}, and ${this.problem}.`
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
