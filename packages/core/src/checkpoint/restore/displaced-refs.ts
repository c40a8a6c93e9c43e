import { type TreeEntry, toAbsolute } from "../entries.ts";
import { parsePackedRefs, parseRef, readPackedRefs, readRefFile, toGitPath } from "../tree/git-refs.ts";
import type { DisplacedRef } from "../types.ts";
import type { EvaluateOptions, Evaluation } from "./evaluate-change.ts";

/**
 * The refs that stay as somebody else has set them since, for instance by `git init` and a commit, with what they were:
 * their objects are restored all the same, and only the hash leads to them.
 */
export function findDisplacedRefs(
  evaluated: readonly Evaluation[],
  options: EvaluateOptions,
): DisplacedRef[] {
  return [...findOwnFiles(evaluated, options), ...findPacked(evaluated, options)].sort((left, right) =>
    compareKeys(keyOf(left), keyOf(right)),
  );
}

function keyOf({ gitDirectory, ref }: DisplacedRef): string {
  return `${gitDirectory}/${ref}`;
}

function compareKeys(left: string, right: string): number {
  return left < right ? -1 : 1;
}

/** Refs in files of their own. */
function findOwnFiles(evaluated: readonly Evaluation[], options: EvaluateOptions): DisplacedRef[] {
  return evaluated.flatMap(({ kind, change: { path, target } }) => {
    const { gitDirectory = "", name: ref = "" } = toGitPath(path) ?? {};
    const hash = parseRef(readKept(target, options));
    if (kind !== "conflict" || !/^(?:HEAD$|refs\/)/.test(ref) || hash === undefined) return [];
    const directory = toAbsolute(options.root, gitDirectory);
    const present = parseRef(readRefFile(directory, ref) ?? "") ?? readPackedRefs(directory).get(ref);
    return present === hash ? [] : [{ gitDirectory, ref, hash }];
  });
}

/** Refs in `packed-refs` that the session has changed there: git looks for a file of their own first. */
function findPacked(evaluated: readonly Evaluation[], options: EvaluateOptions): DisplacedRef[] {
  const planned = new Set(evaluated.map(({ change }) => change.path));
  return evaluated.flatMap(({ kind, change: { path, target, expected } }) => {
    const { gitDirectory = "", name } = toGitPath(path) ?? {};
    if (name !== "packed-refs" || (kind !== "conflict" && kind !== "restore")) return [];
    const left = parsePackedRefs(readKept(expected, options));
    const directory = toAbsolute(options.root, gitDirectory);
    const present = kind === "conflict" ? readPackedRefs(directory) : undefined;
    return [...parsePackedRefs(readKept(target, options))]
      .filter(([ref, hash]) => left.get(ref) !== hash && !planned.has(`${gitDirectory}/${ref}`))
      .filter(([ref, hash]) => {
        const own = parseRef(readRefFile(directory, ref) ?? "");
        return own === undefined ? present !== undefined && present.get(ref) !== hash : own !== hash;
      })
      .map(([ref, hash]) => ({ gitDirectory, ref, hash }));
  });
}

function readKept(entry: TreeEntry | undefined, { store }: EvaluateOptions): string {
  const content = entry?.kind === "file" && entry.hash !== undefined ? store.read(entry.hash) : undefined;
  return content ? Buffer.from(content).toString("latin1") : "";
}
