import type { z } from "zod";
import { isInside } from "../infrastructure/reading/real-path.ts";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { GlobParameters } from "./parameters.ts";
import { splitGlobPattern } from "./search/glob-pattern.ts";
import { createSearchGate } from "./search/search-gate.ts";
import { resolveFilePath } from "./target/file-path.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, as `globParameters` lets them through. */
export type GlobArguments = z.output<GlobParameters>;

/** Finds files by name, newest first. */
export function createGlobTool(workspace: Workspace): Tool<GlobParameters> {
  const gate = createSearchGate<GlobArguments>(workspace, {
    toolName: "glob",
    placeOf: searchDirectory,
    describe: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  });
  return {
    name: "glob",
    description: "Finds files whose path matches a glob, newest first. Leaves out what .gitignore names.",
    get parameters() {
      return loadParameters().globParameters;
    },
    inputSchema: INPUT_SCHEMAS.glob,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { findFiles, noDirectoryError, noFiles } = await import("./search/find-files.ts");
      const target = gate.locateIfThere(args);
      if (target?.isDirectory) return findFiles(workspace, { args, target, context });
      const path = resolveFilePath(workspace, args.path || ".");
      // Where the pattern leads away from it, nobody was asked about `path`.
      const error = isInside(gate.pathOf(args), path) && noDirectoryError(workspace, path, target);
      if (error) throw error;
      return noFiles(args);
    },
  };
}

function searchDirectory({ pattern, path }: GlobArguments): string {
  const { directory } = splitGlobPattern(pattern);
  if (directory.startsWith("/") || directory === "~" || directory.startsWith("~/")) return directory;
  return [path, directory].filter(Boolean).join("/") || ".";
}
