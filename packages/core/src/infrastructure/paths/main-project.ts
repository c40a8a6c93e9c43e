import { findLinkedRepository } from "./git.ts";

/** Where worktrees lie that diligent has made, in the project. */
const WORKTREES = ".diligent/worktrees";

const PLACE = /^(.+)\/\.diligent\/worktrees\/[^/]+$/;

/** The directory of a worktree that diligent makes in a project. */
export function worktreePath(projectRoot: string, name: string): string {
  return `${projectRoot}/${WORKTREES}/${name}`;
}

/**
 * The project in which diligent has made this worktree, if it is one: its repository is that of the project, and knows
 * the worktree. A directory that only lies there could belong to somebody else.
 * @param root absolute and real.
 */
export function findMainProject(root: string): string | undefined {
  const main = PLACE.exec(root)?.[1];
  if (main === undefined) return undefined;
  const common = findLinkedRepository(root)?.commonDirectory;
  if (common === undefined) return undefined;
  const own = findLinkedRepository(main)?.commonDirectory ?? `${main}/.git`;
  return common === own ? main : undefined;
}
