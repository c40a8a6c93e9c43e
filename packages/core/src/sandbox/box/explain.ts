import { basename } from "node:path";
import type { PrivateTemporary } from "./seccomp.ts";

/** Git commands that write the files of a commit into the tree, and those that create a repository. */
const WRITES_TREE =
  /\bgit\b[^\n;&|]*\s(?:checkout|switch|merge|rebase|stash|pull|reset|restore|cherry-pick|revert|am|apply|read-tree|checkout-index)\b/;
const MAKES_REPOSITORY = /\bgit\b[^\n;&|]*\s(?:init|clone|worktree|submodule)\b/;

// Other programs of the line, and the shell when it opens a file, report the same about their own files.
const OF_GIT = /^(?:error|fatal|warning): /;

const COULD_NOT_WRITE =
  /Device or resource busy|unable to (?:unlink|create file)|Read-only file system|cannot unlink/i;

const SETTINGS = /could not (?:write|lock) config file/i;
// What it leaves in the place where it is, and says so, makes no difference to a commit.
const LEFT = /failed to remove/i;

interface CheckoutCircumstances {
  /** The command line as the model wrote it. */
  command: string;
  mayLeave: boolean;
}

/** True where git says, with exit code 0 too, that it could not write a file. */
export function isHalfCheckout(output: string, command: string): boolean {
  const isAboutFiles = (line: string) =>
    OF_GIT.test(line) && COULD_NOT_WRITE.test(line) && !SETTINGS.test(line) && !LEFT.test(line);
  const isOfGit = WRITES_TREE.test(command) || MAKES_REPOSITORY.test(command);
  return isOfGit && output.split("\n").some(isAboutFiles);
}

/**
 * What it means where git could not write the settings of a repository, which it reports and continues; undefined
 * otherwise.
 */
export function explainSettings(output: string): string | undefined {
  return SETTINGS.test(output)
    ? "a repository's settings (.git/config) cannot be written in the sandbox: what git wanted to store there, such as the upstream of a branch, is not stored"
    : undefined;
}

/**
 * What it means where git could not write control files, or files were moved away after a command with git in it;
 * undefined for a command that shows no such thing of git. For the model.
 */
export function explainCheckout(
  { command, mayLeave }: CheckoutCircumstances,
  seen: "refused" | "moved",
): string | undefined {
  const further = mayLeave
    ? "run it with outside_sandbox and a reason; the user will be asked"
    : "ask the user to run it";
  if (WRITES_TREE.test(command)) {
    const meaning =
      seen === "refused"
        ? "git could not write files in the sandbox, so the working tree now differs from the commit"
        : "files that git wrote were moved away, so the working tree now differs from the commit";
    return `${meaning}: do not commit these differences. See git status; undo this, and ${further}`;
  }
  return MAKES_REPOSITORY.test(command)
    ? `a repository cannot be created in the sandbox, and this one may be incomplete now: to create one, ${further}`
    : undefined;
}

const DENIED = /Permission denied|\bEACCES\b/i;

/** How a sandbox rule shows in the output of programs. The first match applies. */
const SIGNS: readonly { pattern: RegExp; rule: "write" | "network" | "privilege" }[] = [
  {
    pattern: /Read-only file system|\bEROFS\b|read-only filesystem|Device or resource busy|\bEBUSY\b/i,
    rule: "write",
  },
  {
    pattern:
      /Network is unreachable|\bENETUNREACH\b|Could not resolve host|Temporary failure in name resolution|\bEAI_AGAIN\b|\bENOTFOUND\b|Name or service not known|nodename nor servname|unable to resolve host|Failed to resolve|Cannot assign requested address|No address associated|network is down|Operation not permitted.*(?:socket|connect)|Could(?: not|n't) connect|Failed to connect|Connection refused|\bECONNREFUSED\b/i,
    rule: "network",
  },
  {
    pattern: /no new privileges|effective uid is not 0|must be setuid root|gpg failed to sign/i,
    rule: "privilege",
  },
];

/** What a rule says, and how to get beyond it; undefined if the output shows no sign of one. */
export function explainOutput(
  output: string,
  {
    mayLeave,
    temporary,
    unreadableFiles = [],
  }: {
    mayLeave: boolean;
    temporary: PrivateTemporary | undefined;
    unreadableFiles?: readonly string[];
  },
): string | undefined {
  const unreadable = DENIED.test(output)
    ? unreadableFiles.find((path) => output.includes(basename(path)))
    : undefined;
  if (unreadable !== undefined)
    return `it ran in a sandbox: no command in it can read ${unreadable}, which may hold keys or passwords. ${describeExit(mayLeave)}`;
  const rule = SIGNS.find(({ pattern }) => pattern.test(output))?.rule;
  if (rule === undefined) return undefined;
  return `it ran in a sandbox: ${describeRule(rule, temporary)}. ${describeExit(mayLeave)}`;
}

function describeExit(mayLeave: boolean): string {
  return mayLeave
    ? "If it needs more, call bash again with outside_sandbox and a reason; the user will be asked"
    : "The user's settings do not allow commands outside the sandbox";
}

function describeRule(rule: (typeof SIGNS)[number]["rule"], temporary: PrivateTemporary | undefined): string {
  switch (rule) {
    case "write":
      return `only the project and ${temporary?.files ?? "/tmp"} can be written to, except files that control other programs (.git/config, .git/hooks, .env, CLAUDE.md, CI files and the like)`;
    case "network":
      return "there is no network and no access to services on this machine";
    case "privilege":
      return "no program gets more privileges, and keys cannot be used";
  }
}
