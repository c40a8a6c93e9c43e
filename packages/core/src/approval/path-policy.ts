import { resolve } from "node:path";
import { pathKind } from "../infrastructure/reading/path-kind.ts";
import { findRealPath, followPath, isInside } from "../infrastructure/reading/real-path.ts";
import { type Grant, isGranted } from "./grants.ts";
import { findSurroundings, isOwnPlace, judgeDanger, namesDanger, type Surroundings } from "./path-dangers.ts";
import { findPathRule } from "./rules.ts";
import { showWord } from "./show-word.ts";
import type { ApprovalContext, ApprovalVerdict } from "./types.ts";
import { allow, ask, strictest, verdictOf } from "./verdicts.ts";

/** What a call or command does to one path. */
export interface PathUse {
  /** As it was given; relative to `context.cwd`. */
  path: string;
  /**
   * Where the caller has found it to lead, absolute and real: the very place that will be opened. Links may be turned
   * between two looks, so it counts beside what is found here.
   */
  leadsTo?: string | undefined;
  permission: "read" | "write";
  /** False when only names, sizes and the like are looked at: a secret file then need not ask. */
  readsContent: boolean;
}

/** Absolute names that a path goes by: `real` are where it leads, `named` is what it says. */
interface PathNames {
  real: string[];
  named: string;
  /** See `followPath`. */
  isPerProcess: boolean;
}

/**
 * Decides about touching one path, by where it really leads and by the name it is reached under: the stricter counts.
 * Follows links at this moment; who acts on the verdict has to look again.
 */
export function judgePath(
  use: PathUse,
  context: ApprovalContext,
  surroundings = findSurroundings(context),
): ApprovalVerdict {
  const names = nameThe(use, context);
  if (!names) return ask("unknown_target", `${showWord(use.path)} cannot be followed to where it leads`);
  const { root } = surroundings;
  const refineOne = (path: string, verdict: ApprovalVerdict) => {
    const view = isInside(path, root) ? surroundings : { ...surroundings, root: resolve(context.root) };
    return refine(path, verdict, { use, surroundings: view, context });
  };
  const verdicts = [
    ...names.real.map((real) => refineOne(real, judgeRealPath(real, use, { surroundings, context }))),
    refineOne(names.named, judgeGivenName(names.named, use, { surroundings, context })),
  ];
  // No rule speaks of what the path would be elsewhere.
  if (names.isPerProcess)
    verdicts.push(ask("unknown_target", `${showWord(use.path)} is another file for every process`));
  return strictest(verdicts) ?? ask("unknown_target", showWord(use.path));
}

/** Decides about reading a path that is known to be real and inside the project. */
export function judgeRealFile(
  path: string,
  readsContent: boolean,
  { surroundings, context }: Judging,
): ApprovalVerdict {
  const use: PathUse = { path, permission: "read", readsContent };
  const verdict = judgeDanger(path, use, surroundings) ?? INSIDE;
  return refine(path, verdict, { use, surroundings, context });
}

/** `judgePath` for a tool's request, with what a person has allowed for good. */
export function decidePath(use: PathUse, tool: string, context: ApprovalContext): ApprovalVerdict {
  const surroundings = findSurroundings(context);
  const verdict = judgePath(use, context, surroundings);
  if (verdict.action !== "ask") return verdict;
  const { permission } = use;
  const real = nameThe(use, context)?.real ?? [];
  // Who could write there for good could allow itself everything.
  if (real.length === 0 || real.some((path) => isOwnPlace(path, surroundings))) return verdict;
  const wanted = real.map((path): Grant => {
    const grant = { kind: "path", permission, tool, path } as const;
    return pathKind(path) === "directory" ? { ...grant, reach: "below" } : grant;
  });
  return wanted.every((grant) => isGranted(grant, context.grants ?? []))
    ? allow("grant", "you have allowed exactly this for good")
    : { ...verdict, grants: wanted };
}

/** Undefined when it cannot be told where the path leads. */
function nameThe({ path, leadsTo }: PathUse, { cwd }: ApprovalContext): PathNames | undefined {
  const named = resolve(cwd, path);
  // Behind a link, `..` means one place to the kernel and another once a program has tidied the path up: both count.
  const tidied = followPath(named, cwd);
  const raw = followPath(path, cwd);
  if (tidied === undefined || raw === undefined || path.includes("\0")) return undefined;
  return {
    real: [...new Set([tidied.path, raw.path, leadsTo ?? tidied.path])],
    named,
    isPerProcess: tidied.isPerProcess || raw.isPerProcess,
  };
}

/** What is the same for every path of one decision. */
export interface Judging {
  surroundings: Surroundings;
  context: ApprovalContext;
}

const INSIDE = allow("project", "it stays inside the project");

function judgeRealPath(real: string, use: PathUse, { surroundings, context }: Judging): ApprovalVerdict {
  if (isInside(real, surroundings.root)) return judgeDanger(real, use, surroundings) ?? INSIDE;
  if (use.permission === "read" && isInTemporaryDirectory(real, context)) {
    return allow("session_files", "it reads the session's own temporary files");
  }
  const target =
    real === use.path ? showWord(use.path) : `${showWord(use.path)} leads to ${showWord(real)}, which`;
  return ask("outside_project", `${target} is outside the project ${surroundings.root}`);
}

/** A link with the name of a control file or secret is one, wherever it leads. */
function judgeGivenName(named: string, use: PathUse, { surroundings, context }: Judging): ApprovalVerdict {
  const given = resolve(context.root);
  const view = [surroundings, { ...surroundings, root: given }].find(({ root }) => isInside(named, root));
  return view === undefined
    ? allow("project", "where it leads is what counts")
    : (judgeDanger(named, use, view) ?? INSIDE);
}

/**
 * What a rule makes of a verdict. One that allows everything in a directory means the sources in it: it lets control
 * files be written and secrets be read only if it names them, as `.github/workflows/**` and `.env.example` do.
 */
function refine(
  path: string,
  verdict: ApprovalVerdict,
  { use, surroundings, context }: Judging & { use: PathUse },
): ApprovalVerdict {
  const { rules = [], home } = context;
  if (rules.length === 0) return verdict;
  const rule = findPathRule({ path, root: surroundings.root, home }, use.permission, rules);
  if (!rule) return verdict;
  const danger = rule.action === "allow" ? judgeDanger(path, use, surroundings) : undefined;
  return danger && !namesDanger(rule.pattern, { ...use, path }, surroundings) ? danger : verdictOf(rule);
}

function isInTemporaryDirectory(real: string, context: ApprovalContext): boolean {
  if (context.temporaryDirectory === undefined) return false;
  const directory = findRealPath(context.temporaryDirectory, context.cwd);
  return directory !== undefined && isInside(real, directory);
}
