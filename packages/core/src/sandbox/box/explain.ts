import { basename, dirname, relative } from "node:path";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";

import { findTrackedState } from "../../infrastructure/paths/git-index.ts";
import { assertNever } from "../../types.ts";
import { findMetRules, type SandboxRule } from "./failure-signs.ts";
import type { PrivateTemporary } from "./seccomp.ts";

/** Git commands that write the files of a commit into the working tree. */
const WRITES_TREE =
  /\bgit\b[^\n;&|]*\s(?:checkout|switch|merge|rebase|stash|pull|reset|restore|cherry-pick|revert|am|apply|read-tree|checkout-index)\b/;

// Git's own messages: the shell and other programs of the line report similar errors about their own files.
const NOT_WRITTEN =
  /^(?:error|fatal|warning): (?:unable to (?:unlink(?: old)?|create file|write file)|cannot (?:unlink|create directory at)) '?(.+?)'?(?: mode \d+)?: (?:Device or resource busy|Read-only file system)$/;

const SETTINGS = /could not (?:write|lock) config file/i;

// A longer list would not help.
const MAX_NAMED = 5;

/** The files of a commit that git reports it could not write, as git names them. Git may exit with 0 nevertheless. */
export function findUnwrittenFiles(output: string, command: string): string[] {
  if (!WRITES_TREE.test(command)) return [];
  const names = output.split("\n").flatMap((line) => NOT_WRITTEN.exec(line)?.[1] ?? []);
  return [...new Set(names)];
}

/** Explains to the model that git could not write files of a commit. */
export function explainCheckout(unwritten: readonly string[], mayLeave: boolean): string {
  return (
    `git could not write ${listNames(unwritten)} in the sandbox, so the working tree may differ from the commit: ` +
    `do not commit such differences. See git status; undo this, and ${describeFurther(mayLeave)}`
  );
}

/**
 * Explains that git could not write the settings of a repository, which git reports before it continues; otherwise
 * undefined.
 */
export function explainSettings(output: string): string | undefined {
  return SETTINGS.test(output)
    ? "a repository's settings (.git/config) cannot be written in the sandbox: what git wanted to store there, such as the upstream of a branch, is not stored"
    : undefined;
}

/**
 * Explains to the model what it means for git that files were moved away after a command: tracked files are now
 * missing, and directories may no longer be repositories. Empty if neither applies.
 *
 * @param moved their original paths; absolute.
 */
export function explainMoved(
  moved: readonly string[],
  { root, mayLeave }: { root: string; mayLeave: boolean },
): string[] {
  const nameOf = (path: string) => (isInside(path, root) ? relative(root, path) : path);
  const further = describeFurther(mayLeave);
  const tracked = moved.filter((path) => isTracked(path, root)).map(nameOf);
  const repositories = moved.filter((path) => MAKES_REPOSITORY.test(path)).map(nameOf);
  return [
    ...(tracked.length > 0
      ? [
          `git tracks ${listNames(tracked)}, which git status now shows as deleted: do not commit that. Undo this, and ${further}`,
        ]
      : []),
    ...(repositories.length > 0
      ? [`commands in the sandbox cannot create a repository: to create one, ${further}`]
      : []),
  ];
}

const MAKES_REPOSITORY = /\/\.git(?:\/|$)|\/HEAD$/;

/** True if the repository's index contains the file. */
function isTracked(path: string, root: string): boolean {
  for (let directory = dirname(path); isInside(directory, root); directory = dirname(directory))
    if (findStats(toSystemPath(`${directory}/.git`)) !== undefined)
      return findTrackedState(directory, relative(directory, path)) === "tracked";
  return false;
}

function describeFurther(mayLeave: boolean): string {
  return mayLeave
    ? "run it with outside_sandbox and a reason; that needs approval"
    : "ask the user to run it";
}

function listNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return names.slice(0, MAX_NAMED).join(", ") + more;
}

const DENIED = /Permission denied|\bEACCES\b/i;

// A file that git should store; git stops at it.
const STORED_BY_GIT = /^error: open\("(.+)"\): Permission denied$/m;

/**
 * The unreadable files that the output says could not be opened, for any exit code: a filter in a pipe hides the exit
 * code of the failed program. Undefined if there are none.
 */
export function explainUnreadable(
  output: string,
  { mayLeave, unreadableFiles }: { mayLeave: boolean; unreadableFiles: readonly string[] },
): string | undefined {
  if (unreadableFiles.length === 0 || !DENIED.test(output)) return undefined;
  const lines = output.split("\n").filter((line) => DENIED.test(line));
  const named = unreadableFiles.filter((path) => lines.some((line) => isNamed(path, line)));
  if (named.length === 0) return undefined;
  const why = `it ran in a sandbox: no command in it can read ${listNames(named)}, which may hold keys or passwords`;
  const stored = STORED_BY_GIT.exec(output)?.[1];
  const wayOut =
    stored !== undefined && named.some((path) => path.endsWith(`/${stored}`))
      ? ` git cannot store it either: list it in .gitignore, or leave it out of the command with the path ':(top,exclude)${stored}'.`
      : "";
  return `${why}.${wayOut} ${describeExit(mayLeave)}`;
}

/** True if a line names a file, by its whole path or the end of it. */
function isNamed(path: string, line: string): boolean {
  const name = basename(path);
  for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + 1)) {
    const [behind = ""] = line.slice(at + name.length);
    if (/[\w.-]/.test(behind) && !/^\.(?:\s|$)/.test(line.slice(at + name.length))) continue;
    const [shown = name] = /[^\s"'`(:=]*$/.exec(line.slice(0, at)) ?? [];
    const way = shown.replace(/^(?:\.\/)+/, "");
    if (path.endsWith(`/${way}${name}`) || path === `${way}${name}`) return true;
  }
  return false;
}

const NETWORK_OFF = 'The user can allow hosts with --network or the setting "sandboxNetwork", which is "off"';
const NETWORK_ON = 'The user can allow more hosts with --network or the setting "sandboxNetwork"';

const CONTROL_FILES =
  "files that control other programs (.git/config, .git/hooks, .env, CLAUDE.md, CI files and the like)";

interface Explained {
  /** The command line. */
  line?: string;
  /** False for the exit code 0. */
  hasFailed?: boolean;
  mayLeave: boolean;
  temporary: PrivateTemporary | undefined;
  /** True if commands of the session can reach each other's servers. */
  hasLocalhost?: boolean;
  /** True where some hosts can be reached, through a proxy. */
  hasNetwork?: boolean;
  /** True where it may write protected files but hooks and diligent's own. */
  writesProtected?: boolean;
}

/**
 * Explains the sandbox rules that the output shows, and how to run the command outside the sandbox; undefined if it
 * shows none.
 */
export function explainOutput(
  output: string,
  {
    line = "",
    hasFailed = true,
    mayLeave,
    temporary,
    hasLocalhost = false,
    hasNetwork = false,
    writesProtected = false,
  }: Explained,
): string | undefined {
  const rules = findMetRules(output, { line, hasFailed, hasNetwork });
  if (rules.length === 0) return undefined;
  const described = rules.map((rule) =>
    describeRule(rule, { temporary, hasLocalhost, hasNetwork, writesProtected }),
  );
  return `it ran in a sandbox: ${described.join("; ")}. ${describeExit(mayLeave)}`;
}

function describeExit(mayLeave: boolean): string {
  return mayLeave
    ? "If it needs more, call bash again with outside_sandbox and a reason; that needs approval"
    : "The user's settings do not allow commands outside the sandbox";
}

function describeRule(
  rule: SandboxRule,
  {
    temporary,
    hasLocalhost,
    hasNetwork,
    writesProtected,
  }: Pick<Explained, "temporary"> & Record<"hasLocalhost" | "hasNetwork" | "writesProtected", boolean>,
): string {
  switch (rule) {
    case "write":
      return `only the project and ${temporary?.files ?? "/tmp"} can be written to, except ${writesProtected ? ".git/hooks and .diligent" : CONTROL_FILES}`;
    case "network":
      if (hasNetwork)
        return `it reaches other machines only through the proxy that http_proxy, https_proxy and ALL_PROXY name; a program that ignores them has no route. ${NETWORK_ON}`;
      return hasLocalhost
        ? `there is no network but this session's own localhost, and no access to services outside it. ${NETWORK_OFF}`
        : "there is no network and no access to services on this machine";
    case "service":
      return "services of this machine, such as the Docker daemon, cannot be reached";
    case "privilege":
      return "no program gets more privileges, and keys cannot be used";
    default:
      return assertNever(rule);
  }
}
