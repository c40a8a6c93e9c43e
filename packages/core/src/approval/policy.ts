import { relative, resolve } from "node:path";
import { findRealPath, isInside } from "../infrastructure/real-path.ts";
import type { ApprovalRequest } from "../tool/types.ts";
import { assertNever } from "../types.ts";
import { isControlFile } from "./control-files.ts";

/** Which part of the rule decided; shown with the question and carried by the `approval_request` event. */
export type ApprovalGate =
  | "project"
  | "session_files"
  | "shell_command"
  | "control_file"
  | "outside_project"
  | "unknown_target";

export interface ApprovalContext {
  /** The project root, absolute. */
  root: string;
  /** What relative paths in a request start from, absolute. */
  cwd: string;
  /**
   * The session's private temporary directory, where whole outputs are kept; it may always be read. Looked at only
   * when something outside the project is to be read.
   */
  readonly temporaryDirectory?: string | undefined;
}

export interface ApprovalVerdict {
  action: "allow" | "ask";
  gate: ApprovalGate;
  /** Half a sentence for a person, such as `/etc/hosts is outside the project`. */
  reason: string;
}

/**
 * Decides whether a request needs a person's consent. Inside the project, by real path, reading and writing need none;
 * control files ask before they are written, everything outside the project asks, and so does every shell command.
 * It reads the file system to follow links and changes nothing.
 */
export function decideApproval(request: ApprovalRequest, context: ApprovalContext): ApprovalVerdict {
  switch (request.permission) {
    case "execute":
      return { action: "ask", gate: "shell_command", reason: "it runs a command" };
    case "read":
    case "write":
      return decidePath(request, context);
    default:
      return assertNever(request.permission);
  }
}

function decidePath(request: ApprovalRequest, context: ApprovalContext): ApprovalVerdict {
  const path = request.details?.path;
  if (typeof path !== "string" || path === "") {
    return { action: "ask", gate: "unknown_target", reason: "it does not say which path it touches" };
  }
  const verdicts = realPathsOf(path, context.cwd).map((real) =>
    real === undefined
      ? ask("unknown_target", `${path} cannot be followed to where it leads`)
      : decideRealPath(real, { permission: request.permission, path, context }),
  );
  return verdicts.find((verdict) => verdict.action === "ask") ?? verdicts[0] ?? ask("unknown_target", path);
}

/** Behind a link, `..` means one place to the kernel and another once a program has tidied the path up: both count. */
function realPathsOf(path: string, cwd: string): (string | undefined)[] {
  const tidied = findRealPath(resolve(cwd, path), cwd);
  const raw = findRealPath(path, cwd);
  return tidied === raw ? [tidied] : [tidied, raw];
}

interface PathAsked {
  path: string;
  context: ApprovalContext;
}

interface PathQuestion extends PathAsked {
  permission: ApprovalRequest["permission"];
}

function decideRealPath(real: string, { permission, path, context }: PathQuestion): ApprovalVerdict {
  const root = findRealPath(context.root, context.cwd) ?? context.root;
  if (!isInside(real, root)) {
    if (permission === "read" && isInTemporaryDirectory(real, context)) {
      return { action: "allow", gate: "session_files", reason: "it reads the session's own temporary files" };
    }
    const target = real === path ? path : `${path} leads to ${real}, which`;
    return ask("outside_project", `${target} is outside the project ${root}`);
  }
  const control = permission === "write" ? findControlName(real, root, { path, context }) : undefined;
  if (control !== undefined) return ask("control_file", `${control} steers what other programs do`);
  return { action: "allow", gate: "project", reason: "it stays inside the project" };
}

/** The control file a write would change: by where it leads, or by the name it is reached under when that is a link. */
function findControlName(real: string, root: string, { path, context }: PathAsked): string | undefined {
  const named = resolve(context.cwd, path);
  const candidates = [
    real,
    ...[root, resolve(context.root)].flatMap((top) => (isInside(named, top) ? [named] : [])),
  ];
  return candidates
    .map((candidate) =>
      isInside(candidate, root) ? relative(root, candidate) : relative(context.root, candidate),
    )
    .find(isControlFile);
}

function isInTemporaryDirectory(real: string, context: ApprovalContext): boolean {
  if (context.temporaryDirectory === undefined) return false;
  const directory = findRealPath(context.temporaryDirectory, context.cwd);
  return directory !== undefined && isInside(real, directory);
}

function ask(gate: ApprovalGate, reason: string): ApprovalVerdict {
  return { action: "ask", gate, reason };
}
