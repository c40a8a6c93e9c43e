import { join, relative, resolve } from "node:path";
import { type FileTarget, locateFile } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { isExistingPath } from "../infrastructure/fs/stat.ts";
import type { CommandTemporary } from "../infrastructure/process/shell-wrapper.ts";
import { homeDirectory } from "../infrastructure/runtime.ts";
import type { ApprovalRequest, ToolResult } from "../tool/types.ts";
import type { Workspace } from "./workspace.ts";

interface FileArguments {
  file_path: string;
}

/** The exact file that was approved. */
export interface ApprovedTarget extends FileTarget {
  /** As the command names it: absolute, with links not followed. */
  path: string;
}

/** The two steps of a call for one file: requesting approval, and accessing exactly the approved file. */
interface TargetGate {
  approval(args: FileArguments): ApprovalRequest;
  /**
   * @throws Error when the path leads elsewhere than when `approval` was called with the same arguments object. Open
   * the file at `realPath`, and check where it was opened: links may be redirected at any time.
   */
  locate(args: FileArguments): ApprovedTarget;
  /**
   * The result of the call. Its metadata has the `realPath` if links lead there: later, in a summary, two names are
   * known to be one file.
   */
  toResult(args: FileArguments, result: ToolResult): ToolResult;
}

/** A link may be redirected while the user considers the question: the answer does not apply to the new target. */
export function createTargetGate(
  workspace: Workspace,
  {
    toolName,
    permission,
    creates = false,
  }: { toolName: string; permission: "read" | "write"; creates?: boolean },
): TargetGate {
  const realPaths = new WeakMap<FileArguments, string | undefined>();
  const located = new WeakMap<FileArguments, ApprovedTarget>();
  const follow = (path: string) => {
    const view = workspace.commandTemporary?.();
    return view === undefined ? path : toPrivatePath(path, view, { creates });
  };
  return {
    approval(args) {
      const path = follow(resolveFilePath(workspace, args.file_path));
      const realPath = realPathOf(path);
      realPaths.set(args, realPath);
      // For a real path in the project, the target need not be mentioned.
      const isPlain = realPath === undefined || (realPath === path && isInside(path, workspace.root));
      return {
        permission,
        toolName,
        description: `${toolName}: ${onOneLine(args.file_path)}`,
        details: { path, ...(!isPlain && { realPath }) },
      };
    },
    locate(args) {
      const path = resolveFilePath(workspace, args.file_path);
      const target = locateFile(follow(path));
      if (realPaths.has(args) && realPaths.get(args) !== target.realPath) {
        throw new Error(
          `${path} led elsewhere when it was approved; now it leads to ${target.realPath}. Try again.`,
        );
      }
      const approved = { ...target, path };
      located.set(args, approved);
      return approved;
    },
    toResult(args, result) {
      const { path, realPath } = located.get(args) ?? {};
      return realPath === path ? result : { ...result, metadata: { ...result.metadata, realPath } };
    },
  };
}

function realPathOf(path: string): string | undefined {
  try {
    return locateFile(path).realPath;
  } catch {
    return undefined; // The call itself reports the problem with the path.
  }
}

function onOneLine(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

/** Relative to the project root, or absolute for paths outside. */
export function displayPath(workspace: Workspace, path: string): string {
  const fromRoot = relative(workspace.root, path);
  return fromRoot === ".." || fromRoot.startsWith("../") ? path : fromRoot;
}

/**
 * Resolves the model's path: relative paths start at the working directory, `~/` is the home directory. Links are not
 * followed. @throws Error for an empty path and for one with a NUL.
 */
export function resolveFilePath(
  workspace: Pick<Workspace, "cwd" | "environment">,
  givenPath: string,
): string {
  if (givenPath.trim() === "") throw new Error("The path is empty. Give the path of a file.");
  if (givenPath.includes("\0"))
    throw new Error("The path contains a NUL character. Give the path without it.");
  if (givenPath !== "~" && !givenPath.startsWith("~/")) return resolve(workspace.cwd, givenPath);
  const home = homeDirectory(workspace.environment);
  if (home === undefined)
    throw new Error(`There is no home directory to find ${givenPath} in. Give the full path.`);
  return join(home, givenPath.slice(1));
}

const KIBIBYTE = 1024;
const UNITS = ["KB", "MB", "GB", "TB"] as const;

/** Such as `312 bytes`, `4.2 KB`, `1.0 GB`. */
export function formatBytes(bytes: number | bigint): string {
  let amount = Number(bytes);
  if (amount < KIBIBYTE) return amount === 1 ? "1 byte" : `${amount} bytes`;
  let unit: string = UNITS[0];
  for (const larger of UNITS) {
    amount /= KIBIBYTE;
    unit = larger;
    if (amount < KIBIBYTE) break;
  }
  return `${amount.toFixed(1)} ${unit}`;
}

/**
 * The path that a command would use for a path in its temporary directory: files that a command writes to `/tmp` are
 * the ones that a tool reads there, and vice versa. Other paths are returned unchanged.
 * @param creates true for a tool that creates the file; otherwise a file that exists only in the system's directory is
 * meant.
 */
export function toPrivatePath(path: string, view: CommandTemporary, { creates = false } = {}): string {
  const shared = view.shared.find((directory) => isInside(path, directory));
  const isKept = [view.directory, ...view.kept].some((directory) => isInside(path, directory));
  if (shared === undefined || isKept) return path;
  const inside = view.directory + path.slice(shared.length);
  return creates || isExistingPath(inside) || !isExistingPath(path) ? inside : path;
}
