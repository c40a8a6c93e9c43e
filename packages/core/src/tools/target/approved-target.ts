import { type FileTarget, locateFile } from "../../infrastructure/reading/file-target.ts";
import type { ApprovalRequest } from "../../tool/types.ts";
import type { Workspace } from "../workspace.ts";
import { resolveFilePath } from "./file-path.ts";

interface FileArguments {
  file_path: string;
}

export interface ApprovedTarget extends FileTarget {
  /** Absolute; the links in it are not followed. */
  path: string;
}

/** The two moments of a call that works on one file: asking for it, and using exactly what was asked for. */
export interface TargetGate {
  approval(args: FileArguments): ApprovalRequest;
  /** Throws when the path leads elsewhere than it did when `approval` was called with the same arguments object. */
  locate(args: FileArguments): ApprovedTarget;
}

/** A link may be turned to another file while somebody thinks about the question: then the answer was not for that file. */
export function createTargetGate(
  workspace: Workspace,
  { toolName, permission }: { toolName: string; permission: "read" | "write" },
): TargetGate {
  const realPaths = new WeakMap<FileArguments, string | undefined>();
  return {
    approval(args) {
      const path = resolveFilePath(workspace, args.file_path);
      realPaths.set(args, realPathOf(path));
      return {
        permission,
        toolName,
        description: `${toolName}: ${onOneLine(args.file_path)}`,
        details: { path },
      };
    },
    locate(args) {
      const path = resolveFilePath(workspace, args.file_path);
      const target = locateFile(path);
      if (realPaths.has(args) && realPaths.get(args) !== target.realPath) {
        throw new Error(
          `${path} led elsewhere when it was allowed; now it leads to ${target.realPath}. Try again.`,
        );
      }
      return { ...target, path };
    },
  };
}

function realPathOf(path: string): string | undefined {
  try {
    return locateFile(path).realPath;
  } catch {
    return undefined; // The call itself will say what is wrong with the path.
  }
}

function onOneLine(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}
