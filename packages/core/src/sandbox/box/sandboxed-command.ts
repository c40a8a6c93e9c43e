import { mkdtempSync, rmSync } from "node:fs";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { findLinkedRepository } from "../../infrastructure/paths/git.ts";
import { SandboxActivity } from "../../infrastructure/process/sandbox-activity.ts";
import type {
  CommandReturn,
  ProtectedAccess,
  ShellCommand,
  ShellView,
  ShellWrapper,
  WrappedCommand,
} from "../../infrastructure/process/shell-wrapper.ts";
import { processOwner } from "../../infrastructure/runtime.ts";
import { isAdministrator, type SandboxProgram } from "../detect.ts";
import type { CommandNetwork, SessionNetwork } from "../network/session-network.ts";
import { ProtectedFileGuard } from "../protected-files/guard.ts";
import { ProtectedFileJournal } from "../protected-files/journal.ts";
import type { ProtectedFileScan } from "../protected-files/types.ts";
import {
  packArguments,
  toBoxEnvironment,
  toBubblewrapArguments,
  toPreparationArguments,
  toPreparedArguments,
  toStayingShell,
} from "./bubblewrap.ts";
import {
  explainCheckout,
  explainMoved,
  explainOutput,
  explainSettings,
  explainUnreadable,
  findUnwrittenFiles,
} from "./explain.ts";
import { findSockets } from "./hidden-paths.ts";
import { findShownDirectories, planMounts, type SandboxMounts } from "./mounts.ts";
import { canPrepareMounts, describeMounts, type MountPlan, PreparedMounts } from "./prepared-mounts.ts";
import { ProjectSecrets } from "./project-secrets.ts";
import { canFilterSystemCalls, preparePrivateTemporary } from "./seccomp.ts";
import type { SessionNamespace } from "./session-namespace.ts";

interface SandboxedShellOptions {
  program: SandboxProgram;
  /** The project, absolute and real. */
  root: string;
  /** True: only `writable` may be changed, and only there protected files are guarded. */
  isRootReadOnly?: boolean | undefined;
  /** Additional writable directories; absolute and real. */
  writable: readonly string[];
  /** The session's private temporary directory, real; undefined if there is none. */
  directory(): string | undefined;
  /** Where new protected files are moved to. */
  quarantine: string;
  /** Where a later session finds the previous state if this one is killed; undefined if nothing can be saved. */
  journalDirectory: string | undefined;
  /** Paths that commands may not read: absolute, existing or not. Computed for every command. */
  findSecrets(): readonly string[];
  /** Home directories that contain such paths; absolute. */
  homes: readonly string[];
  /** Directories hidden completely, because they contain sockets. */
  runtimeDirectories: readonly string[];
  sharedTemporary: readonly string[];
  /** What bubblewrap supports here in addition to the sandbox itself. */
  hardening: Hardening;
  /** The namespaces that commands share; undefined if each command has its own. */
  namespace?: SessionNamespace | undefined;
  /** A correction for the model, sent with the first result: a statement about the sandbox that does not hold here. */
  firstNote?: string | undefined;
  /** The network of the shared namespaces; undefined if commands have none. */
  network?: SessionNetwork | undefined;
  /** The start of the session, in milliseconds since the epoch. */
  sessionStart: number;
  /** False if no command may request to run outside. */
  mayLeave: boolean;
  /** Reports to the user, in a sentence, which files were moved away. */
  notify?: ((message: string) => void) | undefined;
  /** For commands of a view: the sandbox of the session, whose files they do not change. */
  original?: SandboxedShell | undefined;
}

export interface Hardening {
  /** False if bubblewrap cannot forbid creating namespaces. */
  forbidsNamespaces: boolean;
  /** False if the kernel does not support system call filters. */
  filtersCalls: boolean;
}

// Numbers of inherited descriptors; see `ProcessOptions`.
const FIRST_DESCRIPTOR = 4;

// Bubblewrap's last output if it cannot set up a mount.
const MOUNT_FAILURE = /^bwrap: Can't .+$/;
// The last output of both joining programs if one of them cannot continue.
const JOIN_FAILURE = /^(?:bwrap|nsenter): .+$/;

interface BubblewrapStart
  extends Pick<WrappedCommand, "argv" | "inheritedFiles" | "report" | "processTable"> {
  /** True for mounts that were made before. */
  isPrepared?: boolean;
}

interface SandboxStart extends BubblewrapStart, Pick<SandboxMounts, "temporary" | "unreadableFiles"> {}

/** The sandbox of one session. Each command gets its own mounts, built from the state when it starts. */
export class SandboxedShell implements ShellWrapper {
  private readonly roots: readonly string[];
  private readonly linkedGitDirectories: readonly string[];
  private readonly keeper: ProtectedFileGuard;
  private readonly projectSecrets: ProjectSecrets;
  private hasGivenFirstNote = false;
  private prepared: PreparedMounts | undefined;
  /** The arguments for the next call of `prepare`. */
  private wanted: MountPlan | undefined;
  /** Describes the mounts that were created last or are being created. */
  private preparedKey: string | undefined;
  private isClosed = false;

  constructor(private readonly options: SandboxedShellOptions) {
    const { root, isRootReadOnly, writable, quarantine, journalDirectory, notify, original } = options;
    const outer = isRootReadOnly ? writable : [root, ...writable];
    const isHeld = (path: string) => outer.some((other) => other !== path && isInside(path, other));
    this.roots = [root, ...new Set(writable.filter((path) => path !== root && !isHeld(path)))];
    this.projectSecrets = original?.projectSecrets ?? new ProjectSecrets(root, options.sessionStart);
    const linked = isRootReadOnly ? undefined : findLinkedRepository(root);
    this.linkedGitDirectories = linked ? [...new Set([linked.commonDirectory, linked.gitDirectory])] : [];
    const guarded = isRootReadOnly ? this.roots.filter((path) => path !== root) : this.roots;
    const places = { roots: guarded, gitDirectories: this.linkedGitDirectories };
    const journal =
      journalDirectory === undefined ? undefined : new ProtectedFileJournal(journalDirectory, places);
    this.keeper =
      original?.keeper ??
      new ProtectedFileGuard({ ...places, quarantine, notify, journal, activity: new SandboxActivity() });
  }

  async wrapCommand(command: ShellCommand): Promise<WrappedCommand> {
    const lost = await this.renewNamespace();
    const { network, notes } = await this.openNetwork(command);
    if (this.options.original)
      return this.toEnclosed(command, this.keeper.snapshot(), { notesBefore: notes, network });
    const before = this.keeper.begin(command.writtenFiles ?? (() => []), command.access);
    try {
      return this.toEnclosed(command, before, { notesBefore: [...lost, ...notes], network });
    } catch (error) {
      this.keeper.abandon();
      network?.end();
      throw error;
    }
  }

  /** A command runs without a network where it cannot be opened. */
  private async openNetwork(
    command: ShellCommand,
  ): Promise<{ network?: CommandNetwork; notes: readonly string[] }> {
    const { namespace, network } = this.options;
    if (network === undefined || !namespace?.isAlive) return { notes: [] };
    try {
      // A view reaches no host, whatever the user would answer.
      const askForHost = this.options.original ? undefined : command.askForHost;
      return { network: await network.open(namespace, { line: lineOf(command), askForHost }), notes: [] };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { notes: [`this command ran without the network that is set: ${problem}`] };
    }
  }

  /**
   * For a command that does nothing: nothing is recorded, and `finish` need not be called. @throws like
   * `wrapCommand`.
   */
  encloseTrial(command: ShellCommand): WrappedCommand {
    return this.toEnclosed(command, this.keeper.snapshot(), { notesBefore: [] });
  }

  /** Messages for the model if the session's processes had ended. */
  private async renewNamespace(): Promise<string[]> {
    const { firstNote } = this.options;
    if (firstNote !== undefined && !this.hasGivenFirstNote) {
      this.hasGivenFirstNote = true;
      return [firstNote];
    }
    try {
      const reason = await this.options.namespace?.renew();
      return reason === undefined ? [] : [`all processes of this session had ended: ${reason}`];
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return [
        `this command ran alone, since the processes of this session have ended and there can be no new ones: ${problem}`,
      ];
    }
  }

  private toEnclosed(
    command: ShellCommand,
    before: ProtectedFileScan,
    { notesBefore, network }: { notesBefore: readonly string[]; network?: CommandNetwork | undefined },
  ): WrappedCommand {
    const { temporary, unreadableFiles, isPrepared, ...start } = this.findStart(command, before);
    const { mayLeave, namespace } = this.options;
    const line = lineOf(command);
    const movedBefore = this.keeper.movedPaths.length;
    const isJoining = start.processTable !== undefined;
    return {
      ...start,
      environment: toBoxEnvironment(command.environment, temporary, network?.environment),
      findFailure: (output) => {
        if (MOUNT_FAILURE.test(output)) return "mounts";
        // Another command may have ended the process that holds the mounts.
        if (isPrepared && JOIN_FAILURE.test(output)) {
          this.dropPrepared();
          return "mounts";
        }
        return isJoining && JOIN_FAILURE.test(output) ? "processes" : undefined;
      },
      ...(isJoining && { endSession: (reason: string) => namespace?.end(reason) ?? Promise.resolve() }),
      explain: (output, hasFailed = true) => {
        // What would help a command of the session does not help one of a view.
        if (this.options.original) return undefined;
        const unwritten = findUnwrittenFiles(output, line);
        if (unwritten.length > 0) return explainCheckout(unwritten, mayLeave);
        return (
          explainUnreadable(output, { mayLeave, unreadableFiles }) ??
          network?.explain() ??
          (hasFailed ? undefined : explainSettings(output)) ??
          explainOutput(output, {
            line,
            hasFailed,
            mayLeave,
            temporary,
            hasLocalhost: isJoining,
            hasNetwork: network !== undefined,
            writesProtected: command.access?.keepsNewFiles === true,
          })
        );
      },
      abandon: () => {
        if (!this.options.original) this.keeper.abandon();
        network?.end();
      },
      finish: (end) => {
        network?.finish();
        void this.findEnd(end).then(() => network?.end());
        if (this.options.original) return { notes: [...notesBefore] };
        const notes = [...notesBefore, ...this.keeper.finish(this.findEnd(end))];
        const moved = this.keeper.movedPaths.slice(movedBefore);
        return { notes: [...notes, ...explainMoved(moved, { root: this.options.root, mayLeave })] };
      },
    };
  }

  /** How a command is started, and where its temporary files are. */
  private findStart(command: ShellCommand, look: ProtectedFileScan): SandboxStart {
    const { program, findSecrets, homes, sharedTemporary, runtimeDirectories } = this.options;
    const directory = this.options.directory();
    const temporary = directory === undefined ? undefined : preparePrivateTemporary(directory);
    const sockets = findSockets([...runtimeDirectories, ...sharedTemporary]);
    const isBubblewrap = program.kind === "bubblewrap";
    const places = planMounts({
      roots: this.roots,
      linkedGitDirectories: this.linkedGitDirectories,
      look,
      access: command.access,
      secrets: [...findSecrets(), ...sockets],
      homes: isBubblewrap ? homes : [],
      sharedTemporary,
      temporary,
      projectSecrets: this.projectSecrets.find(),
      settledGitDirectories: this.keeper.settledGitDirectories,
    });
    const start = isBubblewrap
      ? this.toBubblewrap(command, places)
      : { argv: this.toSeatbelt(command, places), inheritedFiles: [] };
    return { ...start, temporary, unreadableFiles: places.unreadableFiles };
  }

  /**
   * Resolves when no process of a command is running. Bubblewrap stays as long as one is, whatever the command
   * reports; without bubblewrap, background processes count as running until the end.
   */
  private findEnd({ survivors, gone }: CommandReturn): Promise<unknown> {
    if (this.options.program.kind === "bubblewrap") return gone;
    return survivors ? new Promise(() => {}) : Promise.resolve();
  }

  leave(): () => string[] {
    this.keeper.inspect();
    return () => this.keeper.accept();
  }

  /** @throws Error with a clause why there are no namespaces. */
  async openView({ onConnection }: Parameters<Required<ShellWrapper>["openView"]>[0]): Promise<ShellView> {
    const { namespace: shared } = this.options;
    if (shared === undefined) throw new Error("commands share no namespaces on this system");
    const directory = this.options.directory();
    const temporary = directory === undefined ? undefined : preparePrivateTemporary(directory);
    if (temporary === undefined) throw new Error("there is no directory for temporary files");
    const [namespace, { SessionNetwork }] = await Promise.all([
      shared.openAnother(),
      import("../network/session-network.ts"),
    ]);
    // The path of a socket has room for a hundred bytes.
    const socketDirectory = mkdtempSync(`${temporary.directory}/v-`);
    const network = new SessionNetwork({
      setting: { allow: [] },
      environment: {},
      directory: socketDirectory,
      onConnection,
    });
    network.prepare(namespace);
    const wrapper = new SandboxedShell({
      ...this.options,
      ...{ namespace, network, firstNote: undefined, mayLeave: false, original: this },
    });
    const end = async () => {
      network.endConnections();
      await namespace.end("the view was closed");
      await network.close();
      rmSync(socketDirectory, { recursive: true, force: true });
    };
    return {
      wrapper,
      writable: [...this.roots, ...this.linkedGitDirectories, temporary.files],
      temporary: temporary.files,
      toAdministration: (argv) => namespace.toJoining(argv),
      root: namespace.root,
      end,
      guard: (access, change) => this.guard(access, change),
    };
  }

  private async guard(access: ProtectedAccess | undefined, change: () => Promise<void>): Promise<string[]> {
    const movedBefore = this.keeper.movedPaths.length;
    this.keeper.begin(() => [], access);
    try {
      await change();
    } catch (error) {
      this.keeper.finish(Promise.resolve());
      throw error;
    }
    const notes = this.keeper.finish(Promise.resolve());
    const moved = this.keeper.movedPaths.slice(movedBefore);
    return [...notes, ...explainMoved(moved, { root: this.options.root, mayLeave: this.options.mayLeave })];
  }

  /** Ends the connections to other hosts, and reports them. */
  endConnections(): void {
    this.options.network?.endConnections();
  }

  /** False if each command has its own processes and network. */
  get sharesProcesses(): boolean {
    return this.options.namespace !== undefined;
  }

  /** Ends everything that runs in the namespaces of the session. */
  async endProcesses(): Promise<void> {
    await this.options.namespace?.end("the session was closed");
  }

  /** Call this when nothing is running: moves away files left by background processes. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.dropPrepared();
    await this.options.network?.close();
    await this.keeper.close();
  }

  private toBubblewrap({ argv, cwd, environment }: ShellCommand, places: SandboxMounts): BubblewrapStart {
    const { program, runtimeDirectories, sharedTemporary, hardening } = this.options;
    const { temporary } = places;
    const namespace = this.options.namespace?.isAlive ? this.options.namespace : undefined;
    const filter = hardening.filtersCalls ? temporary?.filterFile : undefined;
    if (hardening.filtersCalls && filter === undefined && canFilterSystemCalls())
      throw new Error("the sandbox needs files that cannot be written to the session's temporary directory");
    const filters = filter === undefined ? [] : [filter];
    const options = {
      places,
      runtimeDirectories,
      shownDirectories: findShownDirectories(environment.PATH, [...runtimeDirectories, ...sharedTemporary]),
      sharedTemporary,
      forbidsNamespaces: hardening.forbidsNamespaces,
      isFiltered: filter !== undefined,
      isAdministrator: isAdministrator(),
      isJoining: namespace !== undefined,
      owner: processOwner(),
      readOnly: this.options.isRootReadOnly ? [this.options.root] : [],
      cwd,
    };
    const pack = (own: readonly string[], before: readonly string[]) => {
      const descriptor = FIRST_DESCRIPTOR + before.length;
      const packed = packArguments(own, { directory: temporary?.directory, descriptor });
      return {
        argv: [program.path, ...packed.argv],
        inheritedFiles: [...before, ...(packed.file === undefined ? [] : [packed.file])],
      };
    };
    const canPrepare = canPrepareMounts(places, runtimeDirectories);
    const preparation = canPrepare && namespace ? toPreparationArguments(options) : undefined;
    const prepared =
      namespace && preparation && this.findPrepared(preparation, namespace, (own) => pack(own, []));
    const own = prepared ? toPreparedArguments(options) : toBubblewrapArguments(options);
    const { argv: enclosing, inheritedFiles } = pack(own, filters);
    const enclose = (inner: readonly string[]) => [...enclosing, "--", ...inner];
    if (namespace === undefined)
      return { argv: enclose(toStayingShell(argv)), inheritedFiles, report: "staying_shell" };
    const { processTable } = namespace;
    const joining = namespace.toJoining(enclose(argv), prepared);
    return {
      argv: joining,
      inheritedFiles,
      report: "bubblewrap",
      processTable,
      isPrepared: prepared !== undefined,
    };
  }

  /** The mounts of this kind if there are some; if not, the next call of `prepare` makes them. */
  private findPrepared(
    preparation: readonly string[],
    namespace: SessionNamespace,
    pack: (own: readonly string[]) => Pick<MountPlan, "argv" | "inheritedFiles">,
  ): PreparedMounts | undefined {
    const key = describeMounts(preparation, namespace);
    if (this.prepared?.key === key) {
      if (this.prepared.isAlive) return this.prepared;
      this.dropPrepared();
    }
    if (this.preparedKey !== key) this.wanted = { ...pack(preparation), key, shell: namespace.shell };
    return undefined;
  }

  /** Makes the mounts of the last command for the next one, if there are none. It never rejects. */
  async prepare(): Promise<void> {
    const { wanted } = this;
    const { namespace } = this.options;
    this.wanted = undefined;
    if (wanted === undefined || namespace?.isAlive !== true || this.isClosed) return;
    // Mounts that failed or are being created are not requested again.
    this.preparedKey = wanted.key;
    const mounts = await PreparedMounts.make(wanted, namespace).catch(() => undefined);
    if (this.isClosed || this.preparedKey !== wanted.key) return mounts?.end();
    this.prepared?.end();
    this.prepared = mounts;
  }

  private dropPrepared(): void {
    this.prepared?.end();
    this.prepared = undefined;
    this.preparedKey = undefined;
  }

  private toSeatbelt({ argv }: ShellCommand, places: SandboxMounts): string[] {
    return toSeatbeltArguments(
      this.options.program.path,
      toSeatbeltProfile(this.options.isRootReadOnly ? withoutRoot(places, this.options.root) : places),
      argv,
    );
  }
}

function withoutRoot(places: SandboxMounts, root: string): SandboxMounts {
  return { ...places, writable: places.writable.filter((path) => path !== root) };
}

function lineOf({ argv }: ShellCommand): string {
  return argv.at(-1) ?? "";
}

/**
 * The macOS rules for the same sandbox, in the language of sandbox-exec. The last match applies. Unlike on Linux,
 * commands can see the processes outside, but they cannot affect them.
 */
export function toSeatbeltProfile(places: SandboxMounts): string {
  const { temporary } = places;
  const writable = [...places.writable, ...places.fixed, ...(temporary ? [temporary.files] : [])];
  const lines = [
    "(version 1)",
    "(allow default)",
    "(deny network*)",
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    "(deny mach-priv* iokit-set-properties nvram* system-socket)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))',
    ...writable.map((path) => `(allow file-write* (subpath ${quote(path)}))`),
    ...places.fixed.map((path) => `(deny file-write-unlink (literal ${quote(path)}))`),
    ...places.protected.flatMap((path) => [
      `(deny file-write* (subpath ${quote(path)}))`,
      ...parentsBelow(path, places.writable).map(
        (parent) => `(deny file-write-unlink (literal ${quote(parent)}))`,
      ),
    ]),
    ...[...places.hiddenDirectories, ...places.hiddenFiles, ...places.unreadableFiles].map(
      (path) => `(deny file-read* file-write* (subpath ${quote(path)}))`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** The command line that runs `argv` under a profile. */
function toSeatbeltArguments(program: string, profile: string, argv: readonly string[]): string[] {
  return [program, "-p", profile, ...argv];
}

/** The parent directories of a path that are inside writable directories. */
function parentsBelow(path: string, writable: readonly string[]): string[] {
  const parts = path.split("/");
  const parents = parts.map((_, index) => parts.slice(0, index).join("/"));
  return parents.filter((parent) => writable.some((root) => parent.startsWith(`${root}/`)));
}

function quote(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}
