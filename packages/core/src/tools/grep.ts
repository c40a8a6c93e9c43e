import { z } from "zod";
import type { RipgrepEnd } from "../infrastructure/processes/ripgrep.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import { formatGrepLines, type GrepLine, type GrepMode } from "./search/grep-output.ts";
import { collectLines, type FoundLines, MAX_COLLECTED, modeOf } from "./search/grep-search.ts";
import {
  createSearchGate,
  displayFound,
  MOVED_NOTE,
  openSearchPlace,
  type SearchTarget,
  WITHHELD_NOTE,
} from "./search/search-target.ts";
import { searchSteadily } from "./search/steady-search.ts";
import type { Workspace } from "./workspace.ts";

// A name a line is short, a line of text is not: both make about 2,000 tokens.
const DEFAULT_LIMITS: Readonly<Record<GrepMode, number>> = {
  files_with_matches: 100,
  content: 200,
  count: 100,
};

const flag = () => z.boolean().optional();
const contextLines = () => z.int().min(0).max(1_000).optional();

const parameters = z.strictObject({
  pattern: z.string().min(1).describe("Regular expression"),
  path: z.string().optional().describe("File or directory"),
  glob: z.string().optional().describe("Such as *.{ts,tsx}"),
  type: z.string().optional().describe("Such as py"),
  output_mode: z.enum(["files_with_matches", "content", "count"]).optional(),
  "-i": flag().describe("Ignore case"),
  "-n": flag().describe("Line numbers, default true"),
  "-A": contextLines(),
  "-B": contextLines(),
  "-C": contextLines(),
  multiline: flag().describe("Matches may span lines"),
  head_limit: z.int().min(0).max(MAX_COLLECTED).optional().describe("Most lines to show"),
});

export type GrepArguments = z.output<typeof parameters>;

/** Searches the content of files with ripgrep. */
export function createGrepTool(workspace: Workspace): Tool<typeof parameters> {
  const gate = createSearchGate<GrepArguments>(workspace, {
    toolName: "grep",
    placeOf: ({ path }) => path || ".",
    describe: ({ pattern, path }) => `${pattern}${path ? ` in ${path}` : ""}`,
  });
  return {
    name: "grep",
    description:
      "Searches file contents with ripgrep; lists the files that match unless output_mode says otherwise. " +
      "Leaves out what .gitignore names, and files for keys and passwords, such as .env, unless path is one.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { signal, isWithheld }) {
      const target = gate.locate(args);
      using place = openSearchPlace(target);
      const shownOf = ({ lines }: FoundLines) =>
        lines.slice(0, args.head_limit || DEFAULT_LIMITS[modeOf(args)]);
      const { found, isSteady } = await searchSteadily(place, {
        run: () => collectLines(workspace, { args, target, place, signal, isWithheld }),
        filesOf: (all) => (target.isDirectory ? shownOf(all).map(({ path }) => path) : []),
      });
      const shown = shownOf(found);
      const steady = target.isDirectory ? shown.filter(({ path }) => isSteady(path)) : shown;
      const notes = [
        ...(steady.length < shown.length ? [MOVED_NOTE] : []),
        // Said whatever was found: else the content of what is left out could be guessed, one question after the other.
        ...(target.isDirectory && isWithheld ? [WITHHELD_NOTE] : []),
      ];
      return toResult(workspace, {
        ...found,
        args,
        target,
        shown: steady,
        rest: found.lines.length - shown.length,
        notes,
      });
    },
  };
}

interface GrepFound {
  args: GrepArguments;
  target: SearchTarget;
  shown: readonly GrepLine[];
  lines: readonly GrepLine[];
  /** How many lines are left over. */
  rest: number;
  stopped: RipgrepEnd["stopped"];
  /** What else there is to know about the search. */
  notes: readonly string[];
}

function toResult(workspace: Workspace, found: GrepFound): ToolResult {
  const { args, target, shown, lines, stopped } = found;
  const mode = modeOf(args);
  const text = formatGrepLines(shown, {
    mode,
    showLineNumbers: args["-n"] !== false,
    separateGroups: mode === "content" && Boolean(args["-A"] || args["-B"] || args["-C"]),
    showPath: (path) => displayFound(workspace, target, path),
  });
  const output = [
    ...(lines.length === 0 ? [describeNoMatch(args)] : text),
    ...(stopped === "timeout" ? ["[the search was stopped after a minute; there may be more]"] : []),
    ...describeRest(found.rest, mode, stopped),
    ...found.notes,
  ];
  return { output: output.join("\n"), metadata: { count: lines.length } };
}

function describeNoMatch({ pattern, path, glob, type }: GrepArguments): string {
  const where = [path && `in ${path}`, glob && `in files ${glob}`, type && `in ${type} files`].filter(
    Boolean,
  );
  return `No match for ${[pattern, ...where].join(" ")}.`;
}

function describeRest(rest: number, mode: GrepMode, stopped: RipgrepEnd["stopped"]): string[] {
  if (rest === 0) return [];
  const amount = stopped === "limit" ? `more than ${rest.toLocaleString("en")}` : rest.toLocaleString("en");
  return [`[${amount} more ${mode === "content" ? "lines" : "files"} not shown]`];
}
