import { dirname, relative, resolve } from "node:path";
import { isSecretFile } from "../infrastructure/places/secret-files.ts";
import { isLink } from "../infrastructure/reading/directory-entries.ts";
import { findRealPath, isInside } from "../infrastructure/reading/real-path.ts";
import { isControlFile } from "./control-files.ts";
import { type Grant, isGranted } from "./grants.ts";
import { findPathRule } from "./rules.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, strictest, verdictOf } from "./verdicts.ts";

export interface PathUse {
  /** As it was given; relative to `context.cwd`. */
  path: string;
  permission: "read" | "write";
  /** False when only names, sizes and the like are looked at: a secret file then need not ask. */
  readsContent: boolean;
}

/** Absolute names that a path goes by: `real` are where it leads, `named` is what it says. */
interface PathNames {
  real: string[];
  named: string;
  root: string;
}

/**
 * Decides about touching one path, by where it really leads and by the name it is reached under: the stricter counts.
 * Follows links at this moment; who acts on the verdict has to look again.
 */
export function judgePath(use: PathUse, context: ApprovalContext): ApprovalVerdict {
  const names = nameThe(use.path, context);
  if (!names) return ask("unknown_target", `${use.path} cannot be followed to where it leads`);
  const refineOne = (path: string, verdict: ApprovalVerdict) => {
    const root = isInside(path, names.root) ? names.root : resolve(context.root);
    return refine(path, verdict, { use, root, context });
  };
  const verdicts = [
    ...names.real.map((real) => refineOne(real, judgeRealPath(real, use, { names, context }))),
    refineOne(names.named, judgeGivenName(use, { names, context })),
  ];
  return strictest(verdicts) ?? ask("unknown_target", use.path);
}

/**
 * `judgePath` for reading many paths at one moment: a directory that several lie in is followed once.
 */
export function judgeReads(
  paths: readonly string[],
  readsContent: boolean,
  context: ApprovalContext,
): ApprovalVerdict | undefined {
  const root = findRealPath(context.root, context.cwd) ?? context.root;
  const plain = new Map<string, boolean>();
  const isPlain = (directory: string) => {
    const known = plain.get(directory) ?? findRealPath(directory, context.cwd) === directory;
    plain.set(directory, known);
    return known;
  };
  return strictest(
    paths.map((path) => {
      const named = resolve(context.cwd, path);
      const isItself =
        !/(?:^|\/)\.{0,2}$|\.\.|\0/.test(path) &&
        isPlain(dirname(named)) &&
        isInside(named, root) &&
        !isLink(named);
      return isItself
        ? judgeRealFile(named, { root, readsContent, context })
        : judgePath({ path, permission: "read", readsContent }, context);
    }),
  );
}

/** Decides about reading a path that is known to be real and inside the project. */
export function judgeRealFile(
  path: string,
  { root, readsContent, context }: { root: string; readsContent: boolean; context: ApprovalContext },
): ApprovalVerdict {
  const use: PathUse = { path, permission: "read", readsContent };
  return refine(path, judgeInside(relative(root, path), use), { use, root, context });
}

/** `judgePath` for a tool's request, with what a person has allowed for good. */
export function decidePath(use: PathUse, tool: string, context: ApprovalContext): ApprovalVerdict {
  const verdict = judgePath(use, context);
  if (verdict.action !== "ask") return verdict;
  const { permission } = use;
  const real = nameThe(use.path, context)?.real ?? [];
  const wanted = real.map((path): Grant => ({ kind: "path", permission, tool, path }));
  if (wanted.length === 0) return verdict;
  return wanted.every((grant) => isGranted(grant, context.grants ?? []))
    ? allow("grant", "you have allowed exactly this for good")
    : { ...verdict, grants: wanted };
}

/** Undefined when it cannot be told where the path leads. */
function nameThe(path: string, context: ApprovalContext): PathNames | undefined {
  const { cwd } = context;
  const named = resolve(cwd, path);
  // Behind a link, `..` means one place to the kernel and another once a program has tidied the path up: both count.
  const tidied = findRealPath(named, cwd);
  const raw = findRealPath(path, cwd);
  if (tidied === undefined || raw === undefined || path.includes("\0")) return undefined;
  const root = findRealPath(context.root, cwd) ?? context.root;
  return { real: tidied === raw ? [tidied] : [tidied, raw], named, root };
}

interface Surroundings {
  names: PathNames;
  context: ApprovalContext;
}

function judgeRealPath(real: string, use: PathUse, { names, context }: Surroundings): ApprovalVerdict {
  if (isInside(real, names.root)) return judgeInside(relative(names.root, real), use);
  if (use.permission === "read" && isInTemporaryDirectory(real, context)) {
    return allow("session_files", "it reads the session's own temporary files");
  }
  const target = real === use.path ? use.path : `${use.path} leads to ${real}, which`;
  return ask("outside_project", `${target} is outside the project ${names.root}`);
}

/** A link with the name of a control file or secret is one, wherever it leads. */
function judgeGivenName(use: PathUse, { names, context }: Surroundings): ApprovalVerdict {
  const { named } = names;
  const top = [names.root, resolve(context.root)].find((root) => isInside(named, root));
  return top === undefined
    ? allow("project", "where it leads is what counts")
    : judgeInside(relative(top, named), use);
}

/** By its name alone; `path` is from the root, or absolute outside of it. */
function judgeInside(path: string, use: PathUse): ApprovalVerdict {
  return judgeName(path, use) ?? allow("project", "it stays inside the project");
}

/** For what asks wherever it lies: control files that are written and secrets that are read. */
function judgeName(path: string, { permission, readsContent }: PathUse): ApprovalVerdict | undefined {
  if (permission === "write" && isControlFile(path)) {
    return ask("control_file", `${path} steers what other programs do`);
  }
  if (permission === "read" && readsContent && isSecretFile(path)) {
    return ask("secret", `${path} may hold keys or passwords`);
  }
  return undefined;
}

/**
 * What a rule makes of a verdict. One that allows everything in a directory means the sources in it: it lets control
 * files be written and secrets be read only if it names them, as `.github/workflows/**` and `.env.example` do.
 */
function refine(
  path: string,
  verdict: ApprovalVerdict,
  { use, root, context }: { use: PathUse; root: string; context: ApprovalContext },
): ApprovalVerdict {
  const rule = findPathRule({ path, root, home: context.home }, use.permission, context.rules ?? []);
  if (!rule) return verdict;
  const named = isInside(path, root) ? relative(root, path) : path;
  const danger = rule.action === "allow" ? judgeName(named, use) : undefined;
  return danger && judgeName(rule.pattern, use) === undefined ? danger : verdictOf(rule);
}

function isInTemporaryDirectory(real: string, context: ApprovalContext): boolean {
  if (context.temporaryDirectory === undefined) return false;
  const directory = findRealPath(context.temporaryDirectory, context.cwd);
  return directory !== undefined && isInside(real, directory);
}
