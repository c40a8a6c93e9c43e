import { basename, dirname, join, relative } from "node:path";
import { createChildEnvironment } from "../../infrastructure/processes/child-environment.ts";
import type { RipgrepOptions } from "../../infrastructure/processes/ripgrep.ts";
import { specialFileKind } from "../../infrastructure/reading/file-target.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import type { ApprovalRequest } from "../../tool/types.ts";
import { type ApprovedTarget, createTargetGate } from "../target/approved-target.ts";
import { missingFileError } from "../target/missing-file.ts";
import type { Workspace } from "../workspace.ts";

/** A file or directory that exists and is what was asked for when the call was allowed. */
export interface SearchTarget {
  /** Absolute, as given. */
  path: string;
  /** Where that leads; what is opened. */
  realPath: string;
  isDirectory: boolean;
}

export interface SearchGateOptions<A> {
  toolName: string;
  /** The directory or file that a call works on, as the model gave it. */
  placeOf(args: A): string;
  /** What it does there, for a person. */
  describe(args: A): string;
}

/** Asks for the place of a search, and finds it again when the search begins; see `createTargetGate`. */
export function createSearchGate<A extends object>(
  workspace: Workspace,
  { toolName, placeOf, describe }: SearchGateOptions<A>,
) {
  const gate = createTargetGate(workspace, { toolName, permission: "read" });
  const places = new WeakMap<A, { file_path: string }>();
  const placeFor = (args: A) => {
    const place = places.get(args) ?? { file_path: placeOf(args) };
    places.set(args, place);
    return place;
  };
  return {
    approval(args: A): ApprovalRequest {
      const request = gate.approval(placeFor(args));
      return { ...request, description: `${toolName}: ${describe(args)}`.replace(/\s+/g, " ") };
    },
    /** Undefined where nothing is; throws for what is neither file nor directory. */
    locateIfThere(args: A): SearchTarget | undefined {
      return toSearchTarget(gate.locate(placeFor(args)));
    },
    /** Throws, naming what is there instead, where nothing is. */
    locate(args: A): SearchTarget {
      const target = gate.locate(placeFor(args));
      const found = toSearchTarget(target);
      if (!found) throw missingFileError(workspace, target.path);
      return found;
    },
  };
}

function toSearchTarget({ path, realPath, stats }: ApprovedTarget): SearchTarget | undefined {
  if (!stats) return undefined;
  const isDirectory = stats.isDirectory();
  const kind = specialFileKind(stats);
  // A named pipe would keep the search waiting for ever.
  if (!isDirectory && kind !== undefined) throw new Error(`${path} is ${kind}, which cannot be searched.`);
  return { path, realPath, isDirectory };
}

/**
 * How a path is shown: relative to the working directory where it lies in it, in quotes where a line break in it would
 * make one path look like two.
 */
export function displayPath({ cwd }: Workspace, path: string): string {
  const shown = isInside(path, cwd) ? relative(cwd, path) || "." : path;
  return /[\n\r]/.test(shown) ? JSON.stringify(shown) : shown;
}

// Hidden files count, what version control keeps for itself does not, and .gitignore counts before `git init` too.
// What cannot be read is passed over without a word: messages are then about the search itself.
const WALK = [
  "--hidden",
  "--no-require-git",
  "--no-messages",
  "--no-ignore-messages",
  ...[".git", ".hg", ".svn", ".jj"].flatMap((directory) => ["--glob", `!${directory}`]),
];

export interface RipgrepSearch {
  /** What to search for and how; patterns behind `-e`, so that one may begin with a hyphen. */
  flags: readonly string[];
  target: SearchTarget;
  signal: AbortSignal;
}

/** Ripgrep's options, but for what becomes of its output. The paths in that are relative to the target's directory. */
export function toRipgrepOptions(
  workspace: Workspace,
  { flags, target, signal }: RipgrepSearch,
): Omit<RipgrepOptions, "onRecord" | "separator"> {
  const { realPath, isDirectory } = target;
  return {
    args: [...flags, ...WALK, "--", isDirectory ? "./" : `./${basename(realPath)}`],
    cwd: isDirectory ? realPath : dirname(realPath),
    signal,
    environment: createChildEnvironment(workspace),
    search: { environment: workspace.environment, outside: workspace.root },
  };
}

/** How a path that ripgrep printed is shown. */
export function displayFound(
  workspace: Workspace,
  { path, isDirectory }: SearchTarget,
  found: string,
): string {
  return displayPath(workspace, isDirectory ? join(path, found) : path);
}
