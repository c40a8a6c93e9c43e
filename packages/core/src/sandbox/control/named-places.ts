import { dirname } from "node:path";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { readSmallText } from "../../infrastructure/reading/small-text.ts";
import { followInside, type InnerWay } from "./follow-inside.ts";
import { joinAsWritten, readNamingSettings } from "./git-settings.ts";

/** What makes a path a control file: files and links that do so only together; absolute. */
export type Reason = readonly string[];

/** A path that settings or the file of a worktree speak of, and what has led to it. */
interface Named {
  path: string;
  reason: Reason;
}

const MAX_FILE_BYTES = 256 * 1024;

// Of one git directory; people have one or two.
const MAX_NAMED = 50;

// A look follows all of them, in each tree of their git directories: some 50 ms.
const MAX_FOLLOWED = 2_000;

/**
 * What the settings of git directories name where commands may write, there or not: hooks that are kept elsewhere, further
 * settings; and the `links` on the way to these. What they name elsewhere is safe from commands.
 * @param roots where commands may write.
 * @returns also false for `isComplete` where settings name more than can be looked at for every command.
 */
export function findNamedPlaces(gitDirectories: readonly string[], roots: readonly string[]) {
  const places = new Map<string, Reason[]>();
  const links = new Map<string, Reason[]>();
  const add = (to: Map<string, Reason[]>, path: string, reason: Reason) => {
    // To hold all of what commands may write to would leave nothing.
    if (roots.some((root) => isInside(root, path))) return;
    const reasons = to.get(path);
    if (reasons) reasons.push(reason);
    else to.set(path, [reason]);
  };
  const ways = new Map<string, InnerWay>();
  const follow = (path: string, throughEnd: boolean) => {
    const key = `${path}\0${throughEnd}`;
    const way = ways.get(key) ?? followInside(path, roots, { throughEnd });
    ways.set(key, way);
    return way;
  };
  const found = gitDirectories.map((one) => findNamed(one, gitDirectories));
  const all = found.flatMap(({ named }) => named);
  for (const { path, reason } of all.slice(0, MAX_FOLLOWED)) {
    const way = follow(path, false);
    const known = [...new Set(reason.flatMap((file) => toSteps(follow(file, true))))];
    for (const [index, link] of way.links.entries())
      add(links, link, [...known, ...way.links.slice(0, index)]);
    if (way.end !== undefined) add(places, way.end, [...known, ...way.links]);
  }
  const isComplete = all.length <= MAX_FOLLOWED && found.every((one) => one.isComplete);
  return { places, links, count: all.length, isComplete };
}

function toSteps({ links, end }: InnerWay): string[] {
  return end === undefined ? links : [...links, end];
}

function findNamed(gitDirectory: string, gitDirectories: readonly string[]) {
  const files = ["config", "config.worktree"].map((name) => `${gitDirectory}/${name}`);
  const all = files.flatMap((file) => readNamingSettings(file, MAX_NAMED));
  const valuesOf = (wanted: string) => all.filter(({ key }) => key === wanted);
  const trees: Named[] = [
    { path: dirname(gitDirectory), reason: [] },
    { path: gitDirectory, reason: [] },
    ...valuesOf("worktree").map(({ value, files }) => ({
      path: joinAsWritten(gitDirectory, value),
      reason: files,
    })),
    ...findWorktrees(gitDirectory, gitDirectories),
  ];
  const hooks = valuesOf("hookspath").flatMap(({ value, files }) =>
    trees.map(({ path, reason }) => ({ path: joinAsWritten(path, value), reason: [...files, ...reason] })),
  );
  const included = valuesOf("path").map(({ value, file, files }) => ({
    path: joinAsWritten(dirname(file), value),
    reason: files,
  }));
  return { named: [...hooks, ...included], isComplete: all.length < MAX_NAMED };
}

/** Where the trees are to which a git directory belongs: its own as a linked one, and those of its worktrees. */
function findWorktrees(gitDirectory: string, gitDirectories: readonly string[]): Named[] {
  const worktrees = gitDirectories.filter((path) => dirname(path) === `${gitDirectory}/worktrees`);
  return [gitDirectory, ...worktrees].flatMap((directory) => {
    const file = `${directory}/gitdir`;
    const [back] = /^.+$/m.exec(readSmallText(file, MAX_FILE_BYTES) ?? "") ?? [];
    return back === undefined
      ? []
      : [{ path: dirname(joinAsWritten(directory, back.trimEnd())), reason: [file] }];
  });
}
