import { specialFileKind } from "../../infrastructure/reading/file-target.ts";
import type { ApprovalRequest } from "../../tool/types.ts";
import { type ApprovedTarget, createTargetGate } from "../target/approved-target.ts";
import { resolveFilePath } from "../target/file-path.ts";
import type { Workspace } from "../workspace.ts";

/** A file or directory that exists and is what was asked for when the call was allowed. */
export interface SearchTarget {
  /** Absolute, as given. */
  path: string;
  /** Where that leads; what is opened. */
  realPath: string;
  isDirectory: boolean;
}

/** How the arguments of a searching tool are read and told. */
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
  const pathOf = (args: A) => resolveFilePath(workspace, placeOf(args));
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
    /** The place of a call, absolute; the links in it are not followed. */
    pathOf,
    /** Undefined where nothing is; throws for what is neither file nor directory. */
    locateIfThere(args: A): SearchTarget | undefined {
      return toSearchTarget(gate.locate(placeFor(args)));
    },
    /** Rejects, naming what is there instead, where nothing is. */
    async locate(args: A): Promise<SearchTarget> {
      const target = gate.locate(placeFor(args));
      const found = toSearchTarget(target);
      if (found) return found;
      const { missingFileError } = await import("../target/missing-file.ts");
      throw missingFileError(workspace, target);
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
