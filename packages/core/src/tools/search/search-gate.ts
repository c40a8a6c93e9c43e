import { specialFileKind } from "../../infrastructure/fs/read.ts";
import type { ApprovalRequest } from "../../tool/types.ts";
import { type ApprovedTarget, createTargetGate, resolveFilePath } from "../target.ts";
import type { Workspace } from "../workspace.ts";

// Every session has these gates; what searches is loaded with the first call.

/** An existing file or directory that is the one requested when the call was approved. */
export interface SearchTarget {
  /** Absolute, as given. */
  path: string;
  /** The real path, which is opened. */
  realPath: string;
  isDirectory: boolean;
}

/** How the arguments of a search tool are read and described. */
interface SearchGateOptions<A> {
  toolName: string;
  /** The directory or file that a call works on, as the model gave it. */
  locationOf(args: A): string;
  /** A description of the search for the user. */
  describe(args: A): string;
}

/**
 * Requests approval for the location of a search, and resolves it again when the search starts; see `createTargetGate`.
 */
export function createSearchGate<A extends object>(
  workspace: Workspace,
  { toolName, locationOf, describe }: SearchGateOptions<A>,
) {
  const gate = createTargetGate(workspace, { toolName, permission: "read" });
  const locations = new WeakMap<A, { file_path: string }>();
  const pathOf = (args: A) => resolveFilePath(workspace, locationOf(args));
  const withLocation = (args: A) => {
    const location = locations.get(args) ?? { file_path: locationOf(args) };
    locations.set(args, location);
    return location;
  };
  return {
    approval(args: A): ApprovalRequest {
      const request = gate.approval(withLocation(args));
      return { ...request, description: `${toolName}: ${describe(args)}`.replace(/\s+/g, " ") };
    },
    /** The location of a call, absolute; the links in it are not followed. */
    pathOf,
    /** Undefined if the path is missing; throws if it is neither file nor directory. */
    locateExisting(args: A): SearchTarget | undefined {
      return toSearchTarget(gate.locate(withLocation(args)));
    },
    /** Rejects if the path is missing, naming existing files. */
    async locate(args: A): Promise<SearchTarget> {
      const target = gate.locate(withLocation(args));
      const found = toSearchTarget(target);
      if (found) return found;
      const { missingFileError } = await import("../missing-file.ts");
      throw missingFileError(workspace, target);
    },
  };
}

function toSearchTarget({ path, realPath, stats }: ApprovedTarget): SearchTarget | undefined {
  if (!stats) return undefined;
  const isDirectory = stats.isDirectory();
  const kind = specialFileKind(stats);
  // A named pipe would block the search forever.
  if (!isDirectory && kind !== undefined) throw new Error(`${path} is ${kind}, which cannot be searched.`);
  return { path, realPath, isDirectory };
}

/**
 * A glob split into a directory without wildcards and the rest, which is matched against paths below that
 * directory.
 */
interface GlobPattern {
  /** Empty for the directory the pattern starts from; absolute or beginning with `~/` if the pattern was. */
  directory: string;
  rest: string;
}

const WILDCARDS = /[*?[\]{}!\\]/;

/**
 * Splits a glob at the first component with a wildcard (the last component always stays in `rest`; a slash at the end
 * matches everything below), so that only the named directory is walked and needs approval.
 */
export function splitGlobPattern(pattern: string): GlobPattern {
  const components = pattern.replace(/\/+$/, "/**").split("/");
  const wild = components.findIndex((component) => WILDCARDS.test(component));
  const at = wild === -1 ? components.length - 1 : wild;
  const directory = components.slice(0, at).join("/");
  return {
    directory: directory === "" && at > 0 ? "/" : directory,
    rest: components.slice(at).join("/"),
  };
}

/**
 * Returns whether a path below the pattern's directory matches. A pattern without a slash matches at any depth, as in
 * `.gitignore`. Brackets also match literally, for files such as `[id].tsx`.
 */
export function createGlobMatcher({ directory, rest }: GlobPattern): (path: string) => boolean {
  const anchored = rest.includes("/") || directory !== "";
  const glob = new Bun.Glob(anchored ? rest : `**/${rest}`);
  if (!rest.includes("[")) return (path) => glob.match(path);
  const literal = new Bun.Glob((anchored ? rest : `**/${rest}`).replace(/[[\]]/g, "\\$&"));
  return (path) => glob.match(path) || literal.match(path);
}
