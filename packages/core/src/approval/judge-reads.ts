import { dirname, resolve } from "node:path";
import { type PathKind, pathKind } from "../infrastructure/reading/path-kind.ts";
import { findRealPath, followPath, isInside } from "../infrastructure/reading/real-path.ts";
import { type Judging, judgePath, judgeRealFile } from "./path-policy.ts";
import { showWord } from "./show-word.ts";
import type { ApprovalVerdict } from "./types.ts";
import { ask, strictest } from "./verdicts.ts";

/**
 * `judgePath` for the paths that a command reads, all at one moment: a directory that several lie in is followed once.
 * What may never come to an end asks as well. Undefined for no path.
 */
export function judgeReads(
  paths: readonly string[],
  readsContent: boolean,
  judging: Judging,
): ApprovalVerdict | undefined {
  const { context, surroundings } = judging;
  const plain = new Map<string, boolean>();
  const isPlain = (directory: string) => {
    const known = plain.get(directory) ?? isPlainDirectory(directory, context.cwd);
    plain.set(directory, known);
    return known;
  };
  return strictest(
    paths.flatMap((path) => {
      const named = resolve(context.cwd, path);
      const kind = pathKind(named);
      const isItself =
        kind !== "link" &&
        kind !== "unknown" &&
        !/(?:^|\/)\.{0,2}$|\.\.|\0/.test(path) &&
        isInside(named, surroundings.root) &&
        isPlain(dirname(named));
      const verdict = isItself
        ? judgeRealFile(named, readsContent, judging)
        : judgePath({ path, permission: "read", readsContent }, context, surroundings);
      return readsContent && isEndless(path, isItself ? kind : undefined, context.cwd)
        ? [verdict, ask("unknown_target", `${showWord(path)} is no file: reading it may never end`)]
        : [verdict];
    }),
  );
}

function isPlainDirectory(directory: string, cwd: string): boolean {
  const followed = followPath(directory, cwd);
  return followed?.path === directory && !followed.isPerProcess;
}

function isEndless(path: string, kind: PathKind | undefined, cwd: string): boolean {
  const real = kind === undefined ? findRealPath(path, cwd) : undefined;
  return (kind ?? (real && pathKind(real))) === "special";
}
