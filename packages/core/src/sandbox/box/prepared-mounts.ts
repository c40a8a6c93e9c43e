import { lstatSync, readFileSync } from "node:fs";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
import { readMountNamespace } from "../../infrastructure/process/mount-namespace.ts";
import { type ChildProcess, startProcess } from "../../infrastructure/process/process.ts";
import type { SandboxMounts } from "./mounts.ts";
import { readUntilReady, type SessionNamespace } from "./session-namespace.ts";

/**
 * The script of the process that holds the mounts. A command may end its `sleep` or the process itself: the next
 * command then creates its own mounts.
 */
const SCRIPT = `echo ready
exec >/dev/null 2>&1
while :; do sleep 2147483647 & wait; done`;

/** How mounts are made. */
export interface MountPlan {
  /** Bubblewrap with its arguments, without a command. */
  argv: readonly string[];
  inheritedFiles: readonly string[];
  /** See `describeMounts`. */
  key: string;
  shell: string;
}

/**
 * The mounts of a sandbox, made before the command that uses them: bubblewrap reads the table of mounts for each, which
 * takes most of a command's start. A process in the namespaces of the session holds them. Each command makes a mount
 * namespace of its own from them.
 */
export class PreparedMounts {
  private constructor(
    readonly key: string,
    private readonly holder: ChildProcess,
    private readonly table: string,
    /** The process id in the session's namespaces, and of its mount namespace. */
    private readonly ids: Readonly<Record<"process" | "namespace", string>>,
  ) {}

  /** @returns undefined if bubblewrap fails; the next command then reports the same failure. */
  static async make(
    { argv, inheritedFiles, key, shell }: MountPlan,
    namespace: SessionNamespace,
  ): Promise<PreparedMounts | undefined> {
    const { processTable } = namespace;
    const holder = await startProcess({
      argv: namespace.toJoining([...argv, "--", shell, "-c", SCRIPT]),
      cwd: "/",
      environment: { PATH: "/usr/bin:/bin" },
      report: "bubblewrap",
      role: "holder",
      processTable,
      inheritedFiles,
    });
    const said = await readUntilReady(holder);
    const { childProcessId, mountNamespace } = holder.report ?? {};
    // A pending read keeps this program alive.
    await holder.report?.stop();
    holder.release();
    if (said.endsWith("ready\n") && childProcessId !== undefined && mountNamespace !== undefined)
      return new PreparedMounts(key, holder, processTable, {
        process: String(childProcessId),
        namespace: mountNamespace,
      });
    holder.kill();
    return undefined;
  }

  /** False once the process has ended; its id may belong to another process by then. */
  get isAlive(): boolean {
    return readMountNamespace(Number(this.ids.process), this.table) === this.ids.namespace;
  }

  /** The command line that runs another command line in the mounts, for a process in the namespaces of the session. */
  toJoining(nsenter: string, argv: readonly string[]): string[] {
    const directory = `/proc/${this.ids.process}/ns`;
    const namespaces = [`--user=${directory}/user`, "--preserve-credentials", `--mount=${directory}/mnt`];
    return [nsenter, ...namespaces, "--", ...argv];
  }

  /** Commands that are running keep their mounts. */
  end(): void {
    this.holder.kill();
  }
}

/**
 * What mounts depend on: their arguments, the files that these name, and what else is mounted. A name that is removed and
 * made again for the same file takes its mount away, which shows in the time of the file's last change.
 */
export function describeMounts(argv: readonly string[], { processTable }: SessionNamespace): string {
  const paths = new Set(argv.filter((argument) => argument.startsWith("/")));
  const files = [...paths].map((path) => {
    const stats = lstatSync(toSystemPath(path), { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}:${stats.isDirectory() ? "" : stats.ctimeNs}`;
  });
  const mounted = readFileSync("/proc/self/mountinfo", "latin1");
  return JSON.stringify([processTable, argv, files, mounted]);
}

/** False if the private directories of a command would cover a writable directory. */
export function canPrepareMounts({ writable, temporary }: SandboxMounts, own: readonly string[]): boolean {
  const kept = [...writable, ...(temporary ? [temporary.directory] : [])];
  return temporary !== undefined && !kept.some((path) => own.some((directory) => isInside(path, directory)));
}
