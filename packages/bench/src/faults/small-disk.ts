import { mkdirSync } from "node:fs";

/** Why no file system can be mounted here; undefined where one can. */
export function findMountObstacle(): string | undefined {
  if (process.platform !== "linux") return "a tmpfs can be mounted on Linux only";
  return process.getuid?.() === 0 && Bun.which("mount") ? undefined : "only root can mount a tmpfs";
}

/** A file system of its own, empty at first, over a directory, until it is disposed of. */
export class SmallDisk implements Disposable {
  constructor(
    private readonly directory: string,
    kilobytes: number,
  ) {
    mkdirSync(directory, { mode: 0o700, recursive: true });
    this.mount(["-t", "tmpfs", "-o", `mode=700,size=${kilobytes}k`, "tmpfs"]);
  }

  /** @param options as `mount` takes them, such as `size=8m` or `ro`. */
  remount(options: string): void {
    this.mount(["-o", `remount,${options}`]);
  }

  [Symbol.dispose](): void {
    Bun.spawnSync(["umount", "-l", this.directory]);
  }

  private mount(options: readonly string[]): void {
    const { exitCode, stderr } = Bun.spawnSync(["mount", ...options, this.directory]);
    if (exitCode !== 0) throw new Error(`mount ${options.join(" ")}: ${stderr.toString()}`);
  }
}
