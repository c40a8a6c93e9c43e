import { dirname, resolve } from "node:path";
import { findRealPath, followPath, isInside } from "../infrastructure/fs/real-path.ts";
import { type PathKind, pathKind } from "../infrastructure/fs/stat.ts";
import { showWord } from "./bash/parse.ts";
import {
  evaluatePath,
  evaluateRealFile,
  findSurroundings,
  foldPath,
  isOwnLocation,
  type PathEvaluation,
  type Surroundings,
} from "./paths.ts";
import { findPathRule } from "./rules.ts";
import { type ApprovalContext, type ApprovalVerdict, ask, strictest } from "./types.ts";

/**
 * `evaluatePath` for all paths that a command reads; a directory that several paths share is resolved once. Files that
 * may never end need approval as well. Undefined without paths.
 */
export function evaluateReads(
  paths: readonly string[],
  readsContent: boolean,
  evaluation: PathEvaluation,
): ApprovalVerdict | undefined {
  const { context, surroundings } = evaluation;
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
        ? evaluateRealFile(named, readsContent, evaluation)
        : evaluatePath({ path, permission: "read", readsContent }, context, surroundings);
      return readsContent && isEndless(path, isItself ? kind : undefined, context.cwd)
        ? [
            verdict,
            ask("unknown_target", `${showWord(path)} is not a regular file: reading it may never end`),
          ]
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

/**
 * Creates a check whether a file (absolute, real) below a directory must be withheld when the directory is read: a rule
 * denies it or, unless everything is allowed, requires approval, or it is one of diligent's own files. Undefined if
 * there are none. Secrets are not covered: a search excludes them itself.
 */
export function createWithholding(
  directory: string,
  context: ApprovalContext,
): ((path: string) => boolean) | undefined {
  const { mode, home, rules = [] } = context;
  const surroundings = findSurroundings(context);
  const withheld = mode === "auto" ? ["deny"] : ["deny", "ask"];
  const isWithheld = ({ action }: { action: string }) => withheld.includes(action);
  const isRuled = rules.some((rule) => rule.permission === "read" && isWithheld(rule));
  const holdsOwn = mode !== "auto" && holdsOwnLocation(directory, context, surroundings);
  if (!isRuled && !holdsOwn) return undefined;
  const { root } = surroundings;
  return (path) => {
    const rule = isRuled ? findPathRule({ path, root, home }, "read", rules) : undefined;
    return (rule !== undefined && isWithheld(rule)) || (holdsOwn && isOwnLocation(path, surroundings));
  };
}

function holdsOwnLocation(
  directory: string,
  { cwd }: ApprovalContext,
  { ownDirectories }: Surroundings,
): boolean {
  const folded = foldPath(findRealPath(directory, cwd) ?? directory);
  return ownDirectories.some((own) => own.startsWith(folded));
}
