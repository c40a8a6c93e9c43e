import { join } from "node:path";
import { z } from "zod";
import { type RipgrepEnd, runRipgrep } from "../infrastructure/processes/ripgrep.ts";
import { modificationTime } from "../infrastructure/reading/directory-entries.ts";
import { isExistingPath } from "../infrastructure/reading/directory-names.ts";
import { isInside } from "../infrastructure/reading/real-path.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import { createGlobMatcher, splitGlobPattern } from "./search/glob-pattern.ts";
import {
  createSearchGate,
  displayFound,
  MOVED_NOTE,
  openSearchPlace,
  type SearchPlace,
  type SearchTarget,
  toRipgrepOptions,
  WITHHELD_NOTE,
} from "./search/search-target.ts";
import { searchSteadily } from "./search/steady-search.ts";
import { resolveFilePath } from "./target/file-path.ts";
import { missingFileError } from "./target/missing-file.ts";
import type { Workspace } from "./workspace.ts";

const MAX_SHOWN = 200;
// Looking at more files than this for their times would take longer than finding them.
const MAX_SORTED_BY_TIME = 2_000;
// Beyond this the pattern is too wide for anybody to read on.
const MAX_COLLECTED = 50_000;

const parameters = z.strictObject({
  pattern: z.string().min(1).describe("Such as src/**/*.ts"),
  path: z.string().optional().describe("Directory to search in"),
});

type GlobArguments = z.output<typeof parameters>;

/** Finds files by name, newest first. */
export function createGlobTool(workspace: Workspace): Tool<typeof parameters> {
  const gate = createSearchGate<GlobArguments>(workspace, {
    toolName: "glob",
    placeOf: searchDirectory,
    describe: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  });
  return {
    name: "glob",
    description: "Finds files whose path matches a glob, newest first. Leaves out what .gitignore names.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { signal, isWithheld = () => false }) {
      const target = locateDirectory(args);
      if (!target) return toResult(args, [], { show: String, notes: [] });
      const isMatch = createGlobMatcher(splitGlobPattern(args.pattern));
      using place = openSearchPlace(target);
      let isPartlyWithheld = false;
      const matches = (file: string) => {
        if (!isMatch(file)) return false;
        const isShown = !isWithheld(join(target.realPath, file));
        isPartlyWithheld ||= !isShown;
        return isShown;
      };
      const { found, isSteady } = await searchSteadily(place, {
        run: () => collectFiles(workspace, { place, matches, signal }),
        filesOf: ({ files }) => files.slice(0, MAX_SHOWN),
      });
      const files = found.files.filter((file, index) => index >= MAX_SHOWN || isSteady(file));
      return toResult(args, files, {
        show: (file) => displayFound(workspace, target, file),
        stopped: found.stopped,
        notes: [
          ...(files.length < found.files.length ? [MOVED_NOTE] : []),
          ...(isPartlyWithheld ? [WITHHELD_NOTE] : []),
        ],
      });
    },
  };

  /** Undefined where only the pattern names a directory that is not there: nothing matches then. */
  function locateDirectory(args: GlobArguments): SearchTarget | undefined {
    const target = gate.locateIfThere(args);
    if (target?.isDirectory) return target;
    const path = resolveFilePath(workspace, args.path || ".");
    // Where the pattern leads away from it, nobody was asked about `path`.
    if (!isInside(gate.pathOf(args), path)) return undefined;
    if (!isExistingPath(path)) throw missingFileError(workspace, { path, realPath: path });
    if (target?.path === path) throw new Error(`${path} is a file, not a directory.`);
    return undefined;
  }
}

function searchDirectory({ pattern, path }: GlobArguments): string {
  const { directory } = splitGlobPattern(pattern);
  if (directory.startsWith("/") || directory === "~" || directory.startsWith("~/")) return directory;
  return [path, directory].filter(Boolean).join("/") || ".";
}

interface FileSearch {
  place: SearchPlace;
  matches(path: string): boolean;
  signal: AbortSignal;
}

async function collectFiles(workspace: Workspace, { place, matches, signal }: FileSearch) {
  const files: string[] = [];
  const end = await runRipgrep({
    // A pattern given to ripgrep would win over .gitignore, so the names are matched here.
    ...toRipgrepOptions(workspace, { flags: ["--files", "--null"], place, signal }),
    separator: "\0",
    onRecord(record) {
      const file = record.replace(/^\.\//, "");
      if (matches(file)) files.push(file);
      return files.length <= MAX_COLLECTED;
    },
  });
  if (end.stopped === "abort") throw new Error("The search was interrupted.");
  if (end.errors !== "") throw new Error(end.errors);
  return { files: sortFiles(files, place), stopped: end.stopped };
}

/** Newest first while they are few enough, else by path: ripgrep's own order changes from run to run. */
function sortFiles(files: string[], place: SearchPlace): string[] {
  const byPath = files.sort();
  if (files.length > MAX_SORTED_BY_TIME) return byPath;
  const times = new Map(byPath.map((file) => [file, modificationTime(place.at(file))]));
  return byPath.sort((left, right) => (times.get(right) ?? 0) - (times.get(left) ?? 0));
}

interface FoundFiles {
  show(file: string): string;
  stopped?: RipgrepEnd["stopped"];
  /** What else there is to know about the search. */
  notes: readonly string[];
}

function toResult(
  { pattern, path }: GlobArguments,
  files: string[],
  { show, stopped, notes: given }: FoundFiles,
): ToolResult {
  const notes = [...given];
  if (stopped === "timeout") notes.push("[the search was stopped after a minute; there may be more]");
  if (files.length === 0) {
    const place = path ? ` in ${path}` : "";
    return { output: [`No file matches ${pattern}${place}.`, ...notes].join("\n"), metadata: { count: 0 } };
  }
  const shown = files.slice(0, MAX_SHOWN).map(show);
  const hidden = files.length - shown.length;
  if (files.length > MAX_SORTED_BY_TIME) notes.push("[too many to sort by time: sorted by path]");
  if (hidden > 0) {
    const amount = stopped === "limit" ? `more than ${hidden - 1}` : `${hidden}`;
    notes.push(`[${amount} more files match and are not shown; narrow the pattern]`);
  }
  return { output: [...shown, ...notes].join("\n"), metadata: { count: files.length } };
}
