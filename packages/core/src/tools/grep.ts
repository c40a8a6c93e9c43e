import { z } from "zod";
import { SECRET_FILE_GLOBS } from "../infrastructure/places/secret-files.ts";
import { type RipgrepEnd, runRipgrep } from "../infrastructure/processes/ripgrep.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import {
  formatGrepLines,
  type GrepLine,
  type GrepMode,
  parseGrepRecord,
  sortGrepLines,
} from "./search/grep-output.ts";
import {
  createSearchGate,
  displayFound,
  type SearchTarget,
  toRipgrepOptions,
} from "./search/search-target.ts";
import type { Workspace } from "./workspace.ts";

// A name a line is short, a line of text is not: both make about 2,000 tokens.
const DEFAULT_LIMITS: Readonly<Record<GrepMode, number>> = {
  files_with_matches: 100,
  content: 200,
  count: 100,
};

// What is found is sorted before it is cut, so more is taken than shown; beyond this the search is stopped.
const MAX_COLLECTED = 20_000;
const MAX_COLLECTED_CHARS = 4_000_000;

// Longer lines are generated or minified.
const MAX_LINE_BYTES = 500;

// Look-around and back references. With the engine chosen automatically for every pattern, one that ripgrep would explain
// away with a hint (such as a newline without multiline) silently finds nothing.
const NEEDS_PCRE2 = /\(\?<?[=!]|\\[1-9]/;

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

type GrepArguments = z.output<typeof parameters>;

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
      "Leaves out what .gitignore names.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { signal }) {
      const target = gate.locate(args);
      const { lines, end } = await collectLines(workspace, { args, target, signal });
      return toResult(workspace, { args, target, lines: sortGrepLines(lines), stopped: end.stopped });
    },
  };
}

interface GrepSearch {
  args: GrepArguments;
  target: SearchTarget;
  signal: AbortSignal;
}

async function collectLines(workspace: Workspace, { args, target, signal }: GrepSearch) {
  const mode = modeOf(args);
  const lines: GrepLine[] = [];
  let chars = 0;
  const end = await runRipgrep({
    ...toRipgrepOptions(workspace, { flags: [...toFlags(args), ...withoutSecrets(target)], target, signal }),
    separator: mode === "files_with_matches" ? "\0" : "\n",
    onRecord(record) {
      const line = parseGrepRecord(record, mode);
      if (line) lines.push(line);
      chars += record.length;
      return lines.length <= MAX_COLLECTED && chars <= MAX_COLLECTED_CHARS;
    },
  });
  if (end.stopped === "abort") throw new Error("The search was interrupted.");
  if (end.errors !== "") throw new Error(end.errors);
  return { lines, end };
}

/** A search over a directory leaves out what would be asked about by name; the last glob that matches counts. */
function withoutSecrets({ isDirectory }: SearchTarget): string[] {
  return isDirectory ? SECRET_FILE_GLOBS.map((glob) => `--iglob=!${glob}`) : [];
}

function modeOf(args: GrepArguments): GrepMode {
  return args.output_mode ?? "files_with_matches";
}

function toFlags(args: GrepArguments): string[] {
  const mode = modeOf(args);
  return [
    ...["--color=never", "--no-heading", "--with-filename", "--null"],
    ...(NEEDS_PCRE2.test(args.pattern) ? ["--engine=auto"] : []),
    ...(mode === "files_with_matches" ? ["--files-with-matches"] : []),
    ...(mode === "count" ? ["--count"] : []),
    ...(mode === "content" ? contentFlags(args) : []),
    ...(args["-i"] ? ["--ignore-case"] : []),
    ...(args.multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(args.type ? [`--type=${args.type}`] : []),
    ...(args.glob ? [`--glob=${args.glob.replace(/^\.\//, "")}`] : []),
    ...["-e", args.pattern],
  ];
}

function contentFlags(args: GrepArguments): string[] {
  const context = (["-A", "-B", "-C"] as const).flatMap((name) => {
    const count = args[name];
    return count === undefined ? [] : [`${name}${count}`];
  });
  return ["--line-number", `--max-columns=${MAX_LINE_BYTES}`, "--max-columns-preview", ...context];
}

interface GrepFound {
  args: GrepArguments;
  target: SearchTarget;
  lines: GrepLine[];
  stopped: RipgrepEnd["stopped"];
}

function toResult(workspace: Workspace, { args, target, lines, stopped }: GrepFound): ToolResult {
  const mode = modeOf(args);
  const late = stopped === "timeout" ? ["[the search was stopped after a minute; there may be more]"] : [];
  if (lines.length === 0) {
    return { output: [describeNoMatch(args), ...late].join("\n"), metadata: { count: 0 } };
  }
  const shown = lines.slice(0, args.head_limit || DEFAULT_LIMITS[mode]);
  const text = formatGrepLines(shown, {
    mode,
    showLineNumbers: args["-n"] !== false,
    separateGroups: mode === "content" && Boolean(args["-A"] || args["-B"] || args["-C"]),
    showPath: (path) => displayFound(workspace, target, path),
  });
  const notes = [...late, ...describeRest(lines.length - shown.length, mode, stopped)];
  return { output: [...text, ...notes].join("\n"), metadata: { count: lines.length } };
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
