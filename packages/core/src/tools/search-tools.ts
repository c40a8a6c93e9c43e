import { isInside } from "../infrastructure/fs/real-path.ts";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type {
  GlobArguments,
  GlobParameters,
  GrepArguments,
  GrepParameters,
  LsArguments,
  LsParameters,
} from "./parameters.ts";
import { createSearchGate, splitGlobPattern } from "./search/search-gate.ts";
import { resolveFilePath } from "./target.ts";
import type { Workspace } from "./workspace.ts";

/** Finds files by name, newest first. */
export function createGlobTool(workspace: Workspace): Tool<GlobParameters> {
  const gate = createSearchGate<GlobArguments>(workspace, {
    toolName: "glob",
    locationOf: searchDirectory,
    describe: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  });
  return {
    name: "glob",
    description:
      "Finds files whose path matches a glob, newest first. Leaves out files that .gitignore names.",
    get parameters() {
      return loadParameters().globParameters;
    },
    inputSchema: INPUT_SCHEMAS.glob,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { findFiles, noDirectoryError, noFiles } = await import("./search/find-files.ts");
      const target = gate.locateExisting(args);
      if (target?.isDirectory) return findFiles(workspace, { args, target, context });
      const path = resolveFilePath(workspace, args.path || ".");
      // If the pattern leads elsewhere, `path` was not approved.
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

/** Searches the content of files with ripgrep. */
export function createGrepTool(workspace: Workspace): Tool<GrepParameters> {
  const gate = createSearchGate<GrepArguments>(workspace, {
    toolName: "grep",
    locationOf: ({ path }) => path || ".",
    describe: ({ pattern, path }) => `${pattern}${path ? ` in ${path}` : ""}`,
  });
  return {
    name: "grep",
    description:
      "Searches file contents with ripgrep; lists the files that match unless output_mode says otherwise. " +
      "Leaves out files that .gitignore names, and files for keys and passwords, such as .env, unless path is one.",
    get parameters() {
      return loadParameters().grepParameters;
    },
    inputSchema: INPUT_SCHEMAS.grep,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { grepFiles } = await import("./search/grep.ts");
      return grepFiles(workspace, { args, target: await gate.locate(args), context });
    },
  };
}

/** Lists one directory: directories first, links with their targets, files with their sizes. */
export function createLsTool(workspace: Workspace): Tool<LsParameters> {
  const locationOf = ({ path }: LsArguments) => path || ".";
  const gate = createSearchGate(workspace, { toolName: "ls", locationOf, describe: locationOf });
  return {
    name: "ls",
    description: "Lists one directory, hidden entries included. To find files by name use glob.",
    get parameters() {
      return loadParameters().lsParameters;
    },
    inputSchema: INPUT_SCHEMAS.ls,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { listDirectory } = await import("./search/find-files.ts");
      return listDirectory(workspace, await gate.locate(args), context);
    },
  };
}
