import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { PathState } from "../../checkpoint/types.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import type { Git } from "../../infrastructure/git/run-git.ts";

/** The size of a difference. */
export interface DiffSize {
  files: number;
  /** Lines; those of binary files are not counted. */
  added: number;
  removed: number;
}

/** What is in a worktree: to make it like the project at some time, and to measure what was changed since. */
export class WorktreeState {
  constructor(
    /** The worktree and its project; absolute and real. */
    private readonly tree: { path: string; main: string },
    private readonly tools: { main: Git; own: Git },
  ) {}

  /**
   * Copies what the project has and its commit has not, except what git ignores.
   * @throws GitError, and errors of the file system.
   */
  async copyUncommitted(): Promise<void> {
    const { main } = this.tree;
    const listing = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
    const status = await this.tools.main.read(listing);
    const paths = status.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
    for (const path of paths) {
      const stats = lstatSync(join(main, path), { throwIfNoEntry: false });
      const target = this.clear(path);
      if (target === undefined || !stats) continue;
      if (stats.isSymbolicLink()) symlinkSync(readlinkSync(join(main, path)), target);
      else if (stats.isFile()) {
        copyFileSync(join(main, path), target);
        chmodSync(target, stats.mode & 0o777);
      }
    }
  }

  /**
   * Gives paths an earlier state.
   * @returns those whose earlier content is not known.
   */
  restore(states: readonly PathState[]): string[] {
    const unknown: string[] = [];
    // Directories precede what is in them.
    for (const { path, version } of [...states].sort((left, right) => (left.path < right.path ? -1 : 1))) {
      if (version?.kind === "other" || (version?.kind === "file" && version.content === undefined)) {
        unknown.push(path);
        continue;
      }
      if (version?.kind === "directory" && existsSync(join(this.tree.path, path))) continue;
      const target = this.clear(path);
      if (target === undefined) unknown.push(path);
      else if (version?.kind === "directory") mkdirSync(target, { recursive: true });
      else if (version?.kind === "link") symlinkSync(version.target, target);
      else if (version?.content !== undefined) {
        writeFileSync(target, version.content);
        chmodSync(target, version.mode & 0o777);
      }
    }
    return unknown;
  }

  /** Keeps the current state as a tree of git, whose id it returns. @throws GitError */
  async keep(): Promise<string> {
    const { own } = this.tools;
    await own.read(["add", "--all"]);
    const id = (await own.read(["write-tree"])).trim();
    await own.read(["reset", "--quiet"]);
    return id;
  }

  /** How much has changed since. @param since as `keep` returned it. @throws GitError */
  async measureDiff(since: string): Promise<DiffSize> {
    const numbers = await this.tools.own.read([
      "diff",
      "--numstat",
      "--no-renames",
      since,
      await this.keep(),
    ]);
    const rows = numbers.split("\n").flatMap((row) => (row === "" ? [] : [row.split("\t")]));
    const sum = (column: number) => rows.reduce((all, row) => all + (Number(row[column]) || 0), 0);
    return { files: rows.length, added: sum(0), removed: sum(1) };
  }

  /** Removes what is at a path, and makes its directory; undefined where a link leads out of the worktree. */
  private clear(path: string): string | undefined {
    const { path: tree } = this.tree;
    const target = join(tree, path);
    if (target === tree || !isInside(target, tree)) return undefined;
    let parent = dirname(target);
    while (!existsSync(parent)) parent = dirname(parent);
    if (!isInside(realpathSync(parent), tree)) return undefined;
    mkdirSync(dirname(target), { recursive: true });
    rmSync(target, { recursive: true, force: true });
    return target;
  }
}
