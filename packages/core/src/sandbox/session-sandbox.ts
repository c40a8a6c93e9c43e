import { existsSync, mkdirSync } from "node:fs";
import { isAbsolute } from "node:path";
import { commandTemporaryPath } from "../infrastructure/fs/state-files.ts";
import type { AskForHost, NetworkConnection } from "../infrastructure/network/connection.ts";
import { hasHostLimit } from "../infrastructure/network/host-limit.ts";
import type { NetworkSetting } from "../infrastructure/network/network-setting.ts";
import { protectedFileJournalDirectory } from "../infrastructure/paths/user.ts";
import { resolveExecutable } from "../infrastructure/process/environment.ts";
import type { CommandTemporary, SandboxState } from "../infrastructure/process/shell-wrapper.ts";
import { type Environment, now, temporaryDirectory } from "../infrastructure/runtime.ts";
import type { SandboxedShell } from "./box/sandboxed-command.ts";
import { findSandboxProgram, type SandboxProgram } from "./detect.ts";
import { findOwnHomes, findSharedTemporary } from "./shared-temporary.ts";

/** The hosts that sandboxed commands reach, and where questions about other hosts and connections are reported. */
export interface NetworkOptions {
  setting: NetworkSetting;
  /** False where the setting is the default. */
  isChosen: boolean;
  /** Asks about a host for a process whose command has returned; left out when nobody can be asked. */
  askForHost?: AskForHost | undefined;
  /** Called for every connection, allowed or not, when it has ended. */
  onConnection?: ((connection: NetworkConnection) => void) | undefined;
}

/** The project and directories of a session's commands, and where notices are reported. */
export interface SandboxOptions {
  /** `auto`: sandboxed if possible; `required`: sandboxed or not at all; `off`: unsandboxed. */
  setting: "auto" | "required" | "off";
  environment: Environment;
  /** The project root, absolute and real. */
  root: string;
  /** True: commands may only read the project, but for the directories of `writable`. */
  isRootReadOnly?: boolean | undefined;
  /** Further directories that commands may write to: absolute, or from `~/`. */
  writable?: readonly string[] | undefined;
  /** The session's private temporary directory, created on first use; undefined if it cannot be created. */
  directory(): string | undefined;
  /** What sandboxed commands reach; nothing when left out. */
  network?: NetworkOptions | undefined;
  /** Reports to the user, in a sentence, that the expected sandbox is unavailable, or which files were moved away. */
  notify?: ((message: string) => void) | undefined;
}

/**
 * Decides how the commands of a session run. At first, only the sandbox program is located; the code that creates
 * sandboxes is loaded and tried before the first command.
 */
export class SessionSandbox {
  private readonly found: SandboxProgram | { problem: string } | undefined;
  private opening: Promise<OpenedBox> | undefined;
  private recovering: Promise<void> | undefined;
  private readonly sessionStart = now();
  /** Found on first use. */
  private sharedTemporary: readonly string[] | undefined;
  /** Set once a sandbox was tried; without `box`, sandboxing is not possible. */
  private tried: { box?: Pick<SandboxedShell, "sharesProcesses" | "prepare" | "endConnections"> } | undefined;

  constructor(private readonly options: SandboxOptions) {
    this.found = options.setting === "off" ? undefined : findSandboxProgram(options);
  }

  get setting(): SandboxOptions["setting"] {
    return this.options.setting;
  }

  /** False if every command runs unsandboxed. */
  get isWanted(): boolean {
    return this.isExpected || this.setting === "required";
  }

  /** True unless it was known at the start that commands will not be sandboxed. */
  get isExpected(): boolean {
    return this.found !== undefined && "path" in this.found;
  }

  /** True once a trial has shown that commands cannot be sandboxed. */
  get hasFailed(): boolean {
    return this.tried !== undefined && this.tried.box === undefined;
  }

  /** The hosts that sandboxed commands reach; commands that share no namespaces reach none. */
  get network(): NetworkSetting {
    return this.sharesProcesses ? (this.options.network?.setting ?? "off") : "off";
  }

  /**
   * True if commands see each other's processes and servers. Before the first command this is derived from the
   * installed programs.
   */
  get sharesProcesses(): boolean {
    if (this.tried) return this.tried.box?.sharesProcesses ?? false;
    const { environment, root } = this.options;
    return this.hasBubblewrap && resolveExecutable("nsenter", { environment, outside: root }) !== undefined;
  }

  /** Ends the connections of commands to other hosts, and reports them. */
  endConnections(): void {
    this.tried?.box?.endConnections();
  }

  /** The notice for the user at the start if what is set about the network has no effect. Undefined otherwise. */
  get networkProblem(): string | undefined {
    const { network } = this.options;
    if (!network?.isChosen || this.setting === "required") return undefined;
    if (!this.isExpected)
      return 'Commands run unsandboxed: "sandboxNetwork" and --network do not limit what they reach.';
    if (network.setting === "off" || this.sharesProcesses) return undefined;
    return 'Commands have no network: "sandboxNetwork" and --network need bubblewrap and nsenter.';
  }

  /** The directory of the commands' temporary files; undefined if they use the system's directories. */
  get commandTemporary(): CommandTemporary | undefined {
    const { root, writable = [], directory } = this.options;
    const hasBox = this.tried ? this.tried.box !== undefined : true;
    const session = this.hasBubblewrap && hasBox ? directory() : undefined;
    if (session === undefined) return undefined;
    const files = commandTemporaryPath(session);
    mkdirSync(files, { recursive: true, mode: 0o700 });
    this.sharedTemporary ??= findSharedTemporary(
      temporaryDirectory(),
      findOwnHomes(this.options.environment),
    );
    return {
      shared: this.sharedTemporary,
      kept: [root, session, ...writable.filter((path) => isAbsolute(path))],
      directory: files,
    };
  }

  private get hasBubblewrap(): boolean {
    return this.found !== undefined && "path" in this.found && this.found.kind === "bubblewrap";
  }

  /** The notice at the start of a session if a requested sandbox is unavailable; otherwise undefined. */
  get startProblem(): string | undefined {
    return this.found && "problem" in this.found ? describe(this.found.problem, this.options) : undefined;
  }

  /**
   * Moves away files that sandboxed commands of a killed session left in the project, and reports it. Call it before
   * anything in the project is trusted; otherwise it happens before the first command.
   */
  recover(): Promise<void> {
    this.recovering ??= this.recoverOnce();
    return this.recovering;
  }

  /** How commands run; the first call tests whether sandboxes work here. */
  async sandboxState(): Promise<SandboxState> {
    return (await this.open()).state;
  }

  /** Ends what commands have left running, where they share their processes. */
  async endProcesses(): Promise<void> {
    await (await this.opening)?.endProcesses();
  }

  /** Prepares the next command while nothing waits for it, if a command has run. It never rejects. */
  async prepare(): Promise<void> {
    await this.tried?.box?.prepare();
  }

  /** Call this at the end, when no command is running. */
  async close(): Promise<void> {
    await (await this.opening)?.close();
  }

  private open(): Promise<OpenedBox> {
    this.opening ??= this.find();
    return this.opening;
  }

  private async recoverOnce(): Promise<void> {
    const { environment, root, notify } = this.options;
    const directory = protectedFileJournalDirectory(environment, root);
    if (directory === undefined || !existsSync(directory)) return;
    const [{ recoverInterruptedSessions }, { findQuarantine }] = await Promise.all([
      import("./protected-files/recovery.ts"),
      import("./open-sandbox.ts"),
    ]);
    recoverInterruptedSessions({ directory, root, quarantine: findQuarantine(this.options), notify });
  }

  private async find(): Promise<OpenedBox> {
    if (this.found === undefined) return without({ kind: "open" });
    if ("problem" in this.found) return without(toState(this.found.problem, this.options));
    await this.recover();
    const { openBox } = await import("./open-sandbox.ts");
    const mayLeave = this.options.setting !== "required";
    const opened = await openBox(this.found, { ...this.options, mayLeave, sessionStart: this.sessionStart });
    if ("box" in opened) {
      const { box } = opened;
      this.tried = { box };
      return {
        state: { kind: "boxed", wrapper: box, mayLeave },
        close: () => box.close(),
        endProcesses: () => box.endProcesses(),
      };
    }
    this.tried = {};
    this.options.notify?.(describe(opened.problem, this.options));
    return without(toState(opened.problem, this.options));
  }
}

interface OpenedBox {
  state: SandboxState;
  endProcesses(): Promise<void>;
  close(): Promise<void>;
}

function without(state: SandboxState): OpenedBox {
  return { state, close: async () => {}, endProcesses: async () => {} };
}

/** Why commands run sandboxed or not at all, a clause. */
export function describeRequirement(): string {
  return hasHostLimit()
    ? "--only-host cannot limit commands outside a sandbox"
    : 'the setting "sandbox" is "required"';
}

function toState(problem: string, { setting }: Pick<SandboxOptions, "setting">): SandboxState {
  return setting === "required" ? { kind: "refused", problem } : { kind: "open", problem };
}

function describe(problem: string, { setting }: Pick<SandboxOptions, "setting">): string {
  return setting === "required"
    ? `No command will run: ${describeRequirement()}, and ${problem}.`
    : `Commands run unsandboxed and need approval: ${problem}. Jobs are ended as far as their processes can be found.`;
}
