import type { RipgrepEnd } from "../../infrastructure/processes/ripgrep.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { GrepArguments } from "../grep.ts";
import type { Workspace } from "../workspace.ts";
import { formatGrepLines, type GrepLine, type GrepMode } from "./grep-output.ts";
import { collectLines, type FoundLines, modeOf } from "./grep-search.ts";
import type { SearchTarget } from "./search-gate.ts";
import { displayFound, MOVED_NOTE, openSearchPlace, WITHHELD_NOTE } from "./search-place.ts";
import { searchSteadily } from "./steady-search.ts";

// A name a line is short, a line of text is not: both make about 2,000 tokens.
const DEFAULT_LIMITS: Readonly<Record<GrepMode, number>> = {
  files_with_matches: 100,
  content: 200,
  count: 100,
};

/** A call whose place was allowed; what `isWithheld` names is left out and told of. */
export interface GrepCall {
  args: GrepArguments;
  target: SearchTarget;
  context: Pick<ToolContext, "signal" | "isWithheld">;
}

/** What matches in a file or below a directory, for the model. */
export async function grepFiles(
  workspace: Workspace,
  { args, target, context }: GrepCall,
): Promise<ToolResult> {
  const { signal, isWithheld } = context;
  using place = openSearchPlace(target);
  const shownOf = ({ lines }: FoundLines) => lines.slice(0, args.head_limit || DEFAULT_LIMITS[modeOf(args)]);
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
  const rest = found.lines.length - shown.length;
  return toResult(workspace, { ...found, args, target, shown: steady, rest, notes });
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
