import { type FileTarget, locateFile } from "../../infrastructure/reading/file-target.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import type { ApprovalRequest } from "../../tool/types.ts";
import type { Workspace } from "../workspace.ts";
import { resolveFilePath } from "./file-path.ts";

interface FileArguments {
  file_path: string;
}

/** The very file that was asked about. */
export interface ApprovedTarget extends FileTarget {
  /** Absolute; the links in it are not followed. */
  path: string;
}

/** The two moments of a call that works on one file: asking for it, and using exactly what was asked for. */
export interface TargetGate {
  approval(args: FileArguments): ApprovalRequest;
  /**
   * Throws when the path leads elsewhere than it did when `approval` was called with the same arguments object. What is
   * opened afterwards has to be opened at `realPath`, with a look at where it was opened: links may be turned any time.
   */
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
      const realPath = realPathOf(path);
      realPaths.set(args, realPath);
      // A path in the project that is real says itself where it leads.
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
