import { type ChildProcess, startProcess } from "../../infrastructure/process/process.ts";
import { identifyProcess, isProcessAlive, type ProcessIdentity } from "../../infrastructure/process/tree.ts";
import { kernelRelease, sleep } from "../../infrastructure/runtime.ts";

/** What `toJoining` needs of prepared mounts. */
interface JoinableMounts {
  toJoining(nsenter: string, argv: readonly string[]): string[];
}

/** The absolute paths of the programs. */
interface NamespaceOptions {
  bubblewrap: string;
  /** From util-linux: starts a program in the namespaces of another process. */
  nsenter: string;
  shell: string;
  /** The limit of processes and threads, if the kernel supports one; by default `MAX_PROCESSES`. */
  maxProcesses?: number | undefined;
}

// Enough for parallel builds. The machine remains usable if a command forks endlessly.
const MAX_PROCESSES = 8_192;

/**
 * The script of the first process in the namespaces. Signals from inside cannot end it. It waits for orphaned
 * processes, so that none remains a zombie; one of them may end its `sleep`.
 */
const SCRIPT = `[ "$1" ] && echo "$1" > /proc/sys/kernel/pid_max
echo ready
exec >/dev/null 2>&1
while :; do sleep 2147483647 & wait; done`;

const READY = "ready\n";
const MAX_MESSAGE_CHARACTERS = 2_000;
const START_LIMIT_MS = 5_000;
const END_LIMIT_MS = 2_000;
const LOOK_EVERY_MS = 5;

/**
 * The user, network, process and IPC namespaces that all commands of a session share: a command can reach servers and
 * see processes of other commands. One process holds the namespaces. It ends together with this program, even if that
 * is killed, and everything in the namespaces ends with it. Each command joins them and makes its own mounts.
 */
export class SessionNamespace {
  private holder: ChildProcess | undefined;
  private holderProcessId = 0;
  /** The first process in the namespaces: when it is gone, so are all others. */
  private first: ProcessIdentity | undefined;
  private opening: Promise<void> | undefined;
  /** Why the last holder process was ended on purpose. */
  private endReason: string | undefined;

  private constructor(private readonly options: NamespaceOptions) {}

  /** @throws Error with the program's output if the system does not allow it. */
  static async open(options: NamespaceOptions): Promise<SessionNamespace> {
    const namespace = new SessionNamespace(options);
    await namespace.start();
    return namespace;
  }

  /** Further namespaces like these. @throws like `open`. */
  openAnother(): Promise<SessionNamespace> {
    return SessionNamespace.open(this.options);
  }

  get isAlive(): boolean {
    return this.holder !== undefined;
  }

  /** The root directory of the process that holds the namespaces. */
  get root(): string {
    return `/proc/${this.holderProcessId}/root`;
  }

  /** The directory in which the kernel shows the processes, by their process ids in the namespace. */
  get processTable(): string {
    return `${this.root}/proc`;
  }

  /**
   * Creates new namespaces if the last ones have ended, and returns why they ended, as a clause for the model;
   * otherwise does nothing. @throws like `open`.
   */
  async renew(): Promise<string | undefined> {
    if (this.holder !== undefined) return undefined;
    const reason = this.endReason ?? "the process that held its namespaces was killed";
    // Of several commands that start at the same time, only one reports this.
    const isFirst = this.opening === undefined;
    this.opening ??= this.start().finally(() => {
      this.opening = undefined;
    });
    await this.opening;
    this.endReason = undefined;
    return isFirst ? reason : undefined;
  }

  /** The id of the process that holds the current namespaces. */
  get id(): number {
    return this.holderProcessId;
  }

  /** The command line that runs another command line in the network namespace, and in none of the others. */
  toJoiningNetwork(argv: readonly string[]): string[] {
    const target = ["--target", String(this.holderProcessId)];
    return [this.options.nsenter, ...target, "--user", "--preserve-credentials", "--net", "--", ...argv];
  }

  /** The program by which the command line of the holder is run, an absolute path. */
  get shell(): string {
    return this.options.shell;
  }

  /** The command line that runs another command line in the namespaces, and in prepared mounts where there are some. */
  toJoining(argv: readonly string[], mounts?: JoinableMounts): string[] {
    const { nsenter } = this.options;
    const target = ["--target", String(this.holderProcessId)];
    const namespaces = ["--user", "--preserve-credentials", "--net", "--ipc", "--pid", "--mount"];
    return [nsenter, ...target, ...namespaces, "--", ...(mounts?.toJoining(nsenter, argv) ?? argv)];
  }

  /** Ends all processes in the namespaces. @param reason a clause for the model, for the next `renew`. */
  async end(reason: string): Promise<void> {
    const { holder, first } = this;
    if (holder === undefined) return;
    this.endReason = reason;
    this.holder = undefined;
    holder.kill();
    for (let waitedMs = 0; waitedMs < END_LIMIT_MS; waitedMs += LOOK_EVERY_MS) {
      // The system may take seconds to collect it.
      if (first === undefined || !isProcessAlive(first)) break;
      await sleep(LOOK_EVERY_MS);
    }
    await holder.gone;
  }

  private async start(): Promise<void> {
    const { bubblewrap, shell, maxProcesses = MAX_PROCESSES } = this.options;
    const limit = hasProcessLimits() ? [String(maxProcesses)] : [];
    const holder = await startProcess({
      argv: [bubblewrap, ...HOLDER_ARGUMENTS, "--", shell, "-c", SCRIPT, "session", ...limit],
      cwd: "/",
      environment: { PATH: "/usr/bin:/bin" },
      report: "bubblewrap",
      role: "holder",
    });
    const said = await readUntilReady(holder);
    const processId = holder.report?.childProcessId;
    // A pending read keeps this program alive, as does the holder process until then.
    await holder.report?.stop();
    holder.release();
    if (!said.endsWith(READY) || processId === undefined) {
      await holder.end();
      throw new Error(said.trim());
    }
    this.holder = holder;
    this.holderProcessId = processId;
    this.first = identifyProcess(processId);
    void holder.exited.then(() => {
      if (this.holder === holder) this.holder = undefined;
    });
  }
}

/**
 * Linux 6.14 has this setting per process namespace; before, it applies to the whole system and needs an
 * administrator.
 */
function hasProcessLimits(): boolean {
  const [major = 0, minor = 0] = kernelRelease().split(".").map(Number);
  return major > 6 || (major === 6 && minor >= 14);
}

/** The output of a process that prints `ready`, until it does, has ended, or has taken too long. Nothing is read after that. */
export async function readUntilReady(holder: ChildProcess): Promise<string> {
  const reader = holder.outputs[0]?.getReader();
  const decoder = new TextDecoder();
  const limit = new AbortController();
  const late = sleep(START_LIMIT_MS, limit.signal).then(() => undefined);
  let said = "";
  while (said.length < MAX_MESSAGE_CHARACTERS && !said.endsWith(READY)) {
    const part = await Promise.race([reader?.read(), late]);
    if (part === undefined || part.done) break;
    said += decoder.decode(part.value, { stream: true });
  }
  if (said.endsWith(READY)) await Promise.race([holder.report?.started, late]);
  limit.abort();
  await reader?.cancel();
  holder.closeOutputs();
  return said;
}

/** Uses no `/tmp` of its own: each command mounts the session's directory there. */
const HOLDER_ARGUMENTS: readonly string[] = [
  ...["--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--uid", "0", "--gid", "0"],
  // Commands could not mount devices from a /dev that is bound without them.
  ...["--bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...["--cap-drop", "ALL", "--as-pid-1", "--die-with-parent", "--json-status-fd", "3"],
];
