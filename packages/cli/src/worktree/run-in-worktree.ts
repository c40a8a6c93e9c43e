import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { findProjectRoot, homeDirectory } from "@diligent/core/light";
import {
  type RunWorktree,
  type TakenWorktree,
  type WorktreeEnd,
  WorktreeError,
  Worktrees,
} from "@diligent/core/worktrees";
import type { RunCommand } from "../arguments/command.ts";
import { UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { quoteForShell } from "../text/quote-for-shell.ts";

/**
 * Runs a conversation in a worktree of its own, and removes it afterwards if it holds no work.
 * @param run runs the conversation, and resolves with the exit code.
 * @throws UsageError if there can be no worktree; nothing was sent then.
 */
export async function runInWorktree(
  command: RunCommand,
  io: CliIo,
  run: (command: RunCommand) => Promise<number>,
): Promise<number> {
  const { worktree, directory, ...options } = command.options;
  const cwd = resolveDirectory(directory, io.cwd);
  const root = findProjectRoot(cwd, homeDirectory(io.environment));
  const taken = await take(root, worktree?.name, io);
  const { tree } = taken;
  for (const line of describeStart(tree)) writeLine(io.stderr, line);
  try {
    const inside = join(tree.path, relative(root, cwd));
    const place = existsSync(inside) ? inside : tree.path;
    return await run({ ...command, options: { ...options, directory: place } });
  } finally {
    for (const line of describeEnd(tree, await taken.giveBack())) writeLine(io.stderr, line);
  }
}

async function take(root: string, name: string | undefined, { environment }: CliIo): Promise<TakenWorktree> {
  try {
    const worktrees = await Worktrees.open({ root, environment });
    return await worktrees.take(name);
  } catch (error) {
    if (error instanceof WorktreeError) throw new UsageError(`--worktree: ${error.message}`);
    throw error;
  }
}

function describeStart({ name, branch, isContinued, hasUncommitted, path }: RunWorktree): string[] {
  const how = isContinued ? "Continuing in" : "Working in";
  const lines = [`${how} the worktree ${name} on branch ${branch}: ${path}`];
  if (hasUncommitted && !isContinued)
    lines.push("Uncommitted changes of the project are not in it: it begins with the last commit.");
  return lines;
}

function describeEnd(tree: RunWorktree, end: WorktreeEnd): string[] {
  const { name, branch, main, path } = tree;
  const force = end.kind === "kept" && end.changed > 0 ? "--force " : "";
  const remove = `git -C ${quoteForShell(main)} worktree remove ${force}${quoteForShell(path)}`;
  switch (end.kind) {
    case "removed":
      return [`Worktree ${name} removed: nothing was changed in it.`];
    case "unknown":
      return [`Worktree ${name} kept: ${end.reason}. To remove it: ${remove}`];
    case "kept": {
      const work = [count(end.commits, "commit"), count(end.changed, "uncommitted file")].filter(Boolean);
      const commit =
        end.changed > 0
          ? `git -C ${quoteForShell(path)} add -A && git -C ${quoteForShell(path)} commit, then `
          : "";
      return [
        `Worktree ${name} kept, with ${work.join(" and ")} on branch ${branch}.`,
        `  merge:    ${commit}git -C ${quoteForShell(main)} merge ${branch}`,
        `  continue: diligent --worktree ${name} --continue`,
        `  remove:   ${remove}, and git -C ${quoteForShell(main)} branch -D ${branch}`,
      ];
    }
  }
}

function count(number: number, what: string): string {
  if (number === 0) return "";
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
