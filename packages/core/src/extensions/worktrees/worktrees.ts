import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureDiligentDir } from "../../infrastructure/diligent-dir.ts";
import { SessionLock } from "../../infrastructure/fs/lock.ts";
import { Git, GitError, type GitPlace } from "../../infrastructure/git/run-git.ts";
import { findMainProject, worktreePath } from "../../infrastructure/paths/main-project.ts";
import { localDate, monotonicMs, randomHex, sleep } from "../../infrastructure/runtime.ts";
import { WorktreeState } from "./worktree-state.ts";

/** A working tree of its own for one run, on a branch of its own. */
export interface RunWorktree {
  name: string;
  branch: string;
  /** Absolute and real. */
  path: string;
  /** The project that it belongs to. */
  main: string;
  /** True if it was there before. */
  isContinued: boolean;
  /** True if the project has changes that are not committed, which are not in it. */
  hasUncommitted: boolean;
}

/** What became of a worktree at the end of its run. */
export type WorktreeEnd =
  | { kind: "removed" }
  /** `commits`: how many the project's current commit does not have. `changed`: files that are not committed. */
  | { kind: "kept"; commits: number; changed: number }
  /** It is not known whether it holds work, so it is left as it is. */
  | { kind: "unknown"; reason: string };

/** A worktree cannot be made or used; the message is a clause for the user. */
export class WorktreeError extends Error {}

// A name of a directory and of a branch, see git-check-ref-format(1).
const NAME = /^(?!.*(?:\.\.|\.lock$|\.$))[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** True for a word that can name a worktree and its branch. */
export function isWorktreeName(word: string): boolean {
  return NAME.test(word);
}

/** The worktrees of one run each, in `.diligent/worktrees` of a project. */
export class Worktrees {
  private constructor(
    private readonly place: GitPlace,
    private readonly git: Git,
  ) {}

  /**
   * @param place the project, or one of its worktrees of ours.
   * @throws WorktreeError where git cannot be used, or has no commit yet.
   */
  static async open({ root, environment }: GitPlace): Promise<Worktrees> {
    const place = { root: findMainProject(root) ?? root, environment };
    const git = await orWorktreeError(() => Git.open(place));
    const head = await git.run(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
    if (head.exitCode !== 0)
      throw new WorktreeError(`${place.root} has no commit yet, which a worktree begins with`);
    return new Worktrees(place, git);
  }

  /**
   * Makes a worktree with a new branch at the current commit, or continues with the one of this name. Until it is given
   * back, no other process can use it.
   * @param name undefined: a new one.
   * @throws WorktreeError
   */
  async take(name: string = newName()): Promise<TakenWorktree> {
    if (!isWorktreeName(name))
      throw new WorktreeError(
        `${JSON.stringify(name)} cannot name a worktree; use letters, digits, dots, dashes and underscores`,
      );
    const { root } = this.place;
    const path = worktreePath(root, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await ensureDiligentDir(root);
    const lock = new SessionLock(lockPath(root, name));
    if (!(await lock.take())) throw new WorktreeError(`the worktree ${name} is in use by another session`);
    try {
      return await alone(root, () => orWorktreeError(() => this.use(name, path, lock)));
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private async use(name: string, path: string, lock: SessionLock): Promise<TakenWorktree> {
    const { root } = this.place;
    const isContinued = existsSync(path);
    if (isContinued) this.checkOwn(path);
    else await this.make(name, path);
    const status = await this.git.read(["status", "--porcelain", "-z", "--ignore-submodules=dirty"]);
    const own = await Git.open({ ...this.place, root: path });
    const branch = (await own.read(["rev-parse", "--abbrev-ref", "HEAD"])).trim();
    const tree = { name, branch, path, main: root, isContinued, hasUncommitted: status !== "" };
    return new TakenWorktree(tree, { main: this.git, own, lock });
  }

  private checkOwn(path: string): void {
    if (findMainProject(path) !== this.place.root)
      throw new WorktreeError(`${path} exists and is not a worktree of this repository`);
  }

  private async make(name: string, path: string): Promise<void> {
    // Directories of worktrees that somebody has removed by hand are still listed.
    await this.git.run(["worktree", "prune"]);
    const known = await this.git.run(["show-ref", "--verify", "--quiet", `refs/heads/${name}`]);
    if (known.exitCode === 0)
      throw new WorktreeError(`there is a branch ${name} already; choose another name for the worktree`);
    const made = await this.git.run(["worktree", "add", "--quiet", "-b", name, path, "HEAD"]);
    if (made.exitCode === 0) return;
    await this.git.run(["worktree", "remove", "--force", path]);
    await this.git.run(["branch", "-D", name]);
    throw new WorktreeError(
      made.stderr.replace(/^(?:fatal|error): /, "").split("\n")[0] || "git worktree add failed",
    );
  }
}

/** A worktree that this process uses. */
export class TakenWorktree {
  constructor(
    readonly tree: RunWorktree,
    private readonly tools: { main: Git; own: Git; lock: SessionLock },
  ) {}

  /** Removes the worktree and its branch if it holds nothing that the project does not have. Never throws. */
  async giveBack(): Promise<WorktreeEnd> {
    try {
      const { commits, changed } = await this.countWork();
      if (commits > 0 || changed > 0) return { kind: "kept", commits, changed };
      return (await alone(this.tree.main, () => this.remove())) ?? { kind: "removed" };
    } catch (error) {
      return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
    } finally {
      this.tools.lock.release();
    }
  }

  /** The worktree's state. */
  get state(): WorktreeState {
    return new WorktreeState(this.tree, this.tools);
  }

  /** Leaves the worktree as it is; another process may use it. */
  release(): void {
    this.tools.lock.release();
  }

  /** Removes the worktree and its branch with everything in them. Never throws. */
  async discard(): Promise<WorktreeEnd> {
    const { main, lock } = this.tools;
    const { path, branch, main: root } = this.tree;
    try {
      return await alone(root, async (): Promise<WorktreeEnd> => {
        const removed = await main.run(["worktree", "remove", "--force", "--force", path]);
        if (removed.exitCode !== 0) return { kind: "unknown", reason: removed.stderr.split("\n")[0] ?? "" };
        if (branch !== "HEAD") await main.run(["branch", "--quiet", "-D", branch]);
        return { kind: "removed" };
      });
    } catch (error) {
      return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
    } finally {
      lock.release();
    }
  }

  private async countWork(): Promise<{ commits: number; changed: number }> {
    const { main, own } = this.tools;
    const head = (await main.read(["rev-parse", "HEAD"])).trim();
    const commits = Number((await own.read(["rev-list", "--count", `${head}..HEAD`])).trim());
    const status = await own.read(["status", "--porcelain", "-z", "--untracked-files=all"]);
    return { commits, changed: status.split("\0").filter((line) => line !== "").length };
  }

  /** What keeps it, if it cannot be removed. */
  private async remove(): Promise<WorktreeEnd | undefined> {
    const { path, branch } = this.tree;
    const removed = await this.tools.main.run(["worktree", "remove", path]);
    if (removed.exitCode !== 0) return { kind: "unknown", reason: removed.stderr.split("\n")[0] ?? "" };
    // Without `-D`: a branch with commits that exist nowhere else stays.
    if (branch !== "HEAD") await this.tools.main.run(["branch", "--quiet", "-d", branch]);
    return undefined;
  }
}

const PAUSE_MS = 20;
const LIMIT_MS = 60_000;

/**
 * Does this while no other of our processes makes or removes a worktree of the project: git reads all worktrees of a
 * repository, and fails at one that is not complete yet.
 * @throws WorktreeError if another process does so for a minute.
 */
async function alone<T>(main: string, work: () => Promise<T>): Promise<T> {
  const lock = new SessionLock(join(dirname(worktreePath(main, "any")), ".changing"));
  for (const begin = monotonicMs(); !(await lock.take()); await sleep(PAUSE_MS))
    if (monotonicMs() - begin > LIMIT_MS)
      throw new WorktreeError(`another process has been changing the worktrees of ${main} for a minute`);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * The names of worktrees whose sessions were killed, so that they were never given back. Runs nothing.
 * @param root of the project, or of a worktree of ours.
 */
export function findAbandonedWorktrees(root: string): string[] {
  const main = findMainProject(root) ?? root;
  const directory = dirname(worktreePath(main, "x"));
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((entry) => /^\.(.+)\.lock$/.exec(entry)?.[1] ?? [])
    .filter((name) => isAbandoned(main, name));
}

function isAbandoned(main: string, name: string): boolean {
  const lock = new SessionLock(lockPath(main, name));
  if (lock.isHeld()) return false;
  if (existsSync(worktreePath(main, name))) return true;
  // Killed before there was anything, or somebody has removed it.
  rmSync(lock.path, { force: true });
  return false;
}

function lockPath(main: string, name: string): string {
  return join(dirname(worktreePath(main, name)), `.${name}.lock`);
}

function newName(): string {
  return `work-${localDate().replaceAll("-", "")}-${randomHex(2)}`;
}

async function orWorktreeError<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof GitError) throw new WorktreeError(error.message);
    throw error;
  }
}
