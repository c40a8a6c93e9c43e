import { join } from "node:path";
import { isGitConfig, mayHoldCredentials } from "../../infrastructure/paths/git.ts";
import { isSecretFile, SECRET_FILE_GLOBS } from "../../infrastructure/paths/secret-files.ts";
import { type RipgrepEnd, runRipgrep } from "../../infrastructure/process/ripgrep.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { GrepArguments } from "../parameters.ts";
import { MAX_COLLECTED } from "../parameters.ts";
import type { Workspace } from "../workspace.ts";
import type { SearchTarget } from "./search-gate.ts";
import {
  displayFound,
  MOVED_NOTE,
  openSearchLocation,
  type SearchLocation,
  searchSteadily,
  toRipgrepOptions,
  WITHHELD_NOTE,
} from "./search-scope.ts";

// A file name is short, a line of text is not: both limits are about 2,000 tokens.
const DEFAULT_LIMITS: Readonly<Record<GrepMode, number>> = {
  files_with_matches: 100,
  content: 200,
  count: 100,
};

/** A call whose location was approved; files that `isWithheld` names are left out, and the result says so. */
interface GrepCall {
  args: GrepArguments;
  target: SearchTarget;
  context: Pick<ToolContext, "signal" | "isWithheld">;
}

/** The matches in a file or below a directory, for the model. */
export async function grepFiles(
  workspace: Workspace,
  { args, target, context }: GrepCall,
): Promise<ToolResult> {
  const { signal, isWithheld } = context;
  using location = openSearchLocation(target);
  const shownOf = ({ lines }: FoundLines) => lines.slice(0, args.head_limit || DEFAULT_LIMITS[modeOf(args)]);
  const { found, isSteady } = await searchSteadily(location, {
    run: () => collectLines(workspace, { args, target, location, signal, isWithheld }),
    filesOf: (all) => (target.isDirectory ? shownOf(all).map(({ path }) => path) : []),
  });
  const shown = shownOf(found);
  const steady = target.isDirectory ? shown.filter(({ path }) => isSteady(path)) : shown;
  const notes = [
    ...(steady.length < shown.length ? [MOVED_NOTE] : []),
    // Reported whatever was found: otherwise the content of withheld files could be guessed, one query at a time.
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
  /** How many lines were not shown. */
  rest: number;
  stopped: RipgrepEnd["stopped"];
  /** Additional notes about the search. */
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

/** The result of a search: paths, matching lines, or the number of matching lines per file. */
type GrepMode = "files_with_matches" | "content" | "count";

/** One line printed by ripgrep. */
interface GrepLine {
  /** Relative to the searched directory; empty for a message that belongs to no line. */
  path: string;
  /** 0 outside of content mode. */
  line: number;
  isContext: boolean;
  /** The text of the line, or the count, or nothing. */
  text: string;
  /** True if `text` is a message by ripgrep about the file. */
  isMessage?: boolean;
}

const CONTENT_LINE = /^(\d+)([:-])([\s\S]*)$/;
const BINARY_MATCH =
  /^([\s\S]+): ((?:binary file matches|WARNING: stopped searching binary file after match) \(.*)$/;

/** Reads the records that ripgrep prints with `--null`, one after the other; undefined while a line is incomplete. */
type GrepReader = (record: string) => GrepLine | undefined;

/**
 * A path ends with a NUL, so that one with line feeds in it is distinguished from what follows; it comes in several
 * records. Paths below a searched directory begin with `./`.
 */
function createGrepReader(mode: GrepMode): GrepReader {
  let begun = "";
  return (record) => {
    const text = begun + record;
    begun = "";
    const end = text.indexOf("\0");
    if (mode === "files_with_matches") return { path: plainPath(text), line: 0, isContext: false, text: "" };
    if (end !== -1) return parseLine(plainPath(text.slice(0, end)), text.slice(end + 1), mode);
    const [, binary, message] = BINARY_MATCH.exec(text) ?? [];
    if (binary !== undefined && message !== undefined) {
      return { path: plainPath(binary), line: 0, isContext: false, text: message, isMessage: true };
    }
    if (text.startsWith("./")) begun = `${text}\n`;
    else if (text !== "--" && text !== "") return { path: "", line: 0, isContext: false, text };
    return undefined;
  };
}

function parseLine(path: string, rest: string, mode: GrepMode): GrepLine {
  if (mode === "count") return { path, line: 0, isContext: false, text: rest };
  const [, line, sign, text] = CONTENT_LINE.exec(rest) ?? [];
  return { path, line: Number(line ?? 0), isContext: sign === "-", text: text ?? rest };
}

function plainPath(path: string): string {
  return path.replace(/^\.\//, "");
}

/** By path, and within a file in its order: ripgrep searches files in parallel, so its own order changes. */
function sortGrepLines(lines: readonly GrepLine[]): GrepLine[] {
  return [...lines].sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
}

/** Line numbers are shown in content mode only, whatever `showLineNumbers` says. */
interface GrepLayout {
  mode: GrepMode;
  showLineNumbers: boolean;
  /** True when context was requested: groups that do not touch are then separated by `--`. */
  separateGroups: boolean;
  showPath(path: string): string;
}

/** The lines as grep prints them: `path:12:text`, with `-` for context. */
function formatGrepLines(lines: readonly GrepLine[], layout: GrepLayout): string[] {
  return lines.flatMap((entry, index) => {
    const text = formatLine(entry, layout);
    const before = lines[index - 1];
    const touches = before?.path === entry.path && before.line + 1 >= entry.line;
    return layout.separateGroups && before && !touches ? ["--", text] : [text];
  });
}

function formatLine({ path, line, isContext, text, isMessage }: GrepLine, layout: GrepLayout): string {
  if (path === "") return text;
  const shownPath = layout.showPath(path);
  if (isMessage) return `${shownPath}: ${text}`;
  if (layout.mode === "files_with_matches") return shownPath;
  const sign = isContext ? "-" : ":";
  const number = layout.mode === "content" && layout.showLineNumbers ? `${line}${sign}` : "";
  return `${shownPath}${sign}${number}${text.replace(/\r$/, "")}`;
}

const MAX_COLLECTED_CHARS = 4_000_000;

// Longer lines are generated or minified.
const MAX_LINE_BYTES = 500;

// Look-around and back references. If the engine were chosen automatically for every pattern, a pattern that
// ripgrep would answer with a hint (such as a newline without multiline) silently finds nothing.
const NEEDS_PCRE2 = /\(\?<?[=!]|\\[1-9]/;

/** The sorted results of a search. */
interface FoundLines {
  lines: GrepLine[];
  stopped: RipgrepEnd["stopped"];
}

/** One run of ripgrep in a directory that is held open. */
interface GrepSearch {
  args: GrepArguments;
  target: SearchTarget;
  location: SearchLocation;
  signal: AbortSignal;
  isWithheld: ToolContext["isWithheld"];
}

/** Runs ripgrep once. @throws Error with ripgrep's message, and when it was interrupted. */
async function collectLines(
  workspace: Workspace,
  { args, target, location, signal, isWithheld }: GrepSearch,
): Promise<FoundLines> {
  const mode = modeOf(args);
  const readRecord = createGrepReader(mode);
  const isShown = createFilter(target, isWithheld);
  const lines: GrepLine[] = [];
  let chars = 0;
  const end = await runRipgrep({
    ...toRipgrepOptions(workspace, {
      flags: [...toFlags(args), ...withoutSecrets(target)],
      location,
      signal,
    }),
    separator: mode === "files_with_matches" ? "\0" : "\n",
    onRecord(record) {
      const line = readRecord(record);
      if (!line || !isShown(line.path)) return true;
      lines.push(line);
      chars += record.length;
      return lines.length <= MAX_COLLECTED && chars <= MAX_COLLECTED_CHARS;
    },
  });
  if (end.stopped === "abort") throw new Error("The search was interrupted.");
  if (end.errors !== "") throw new Error(end.errors);
  return { lines: sortGrepLines(lines), stopped: end.stopped };
}

/** False for a file that must not be shown. Asks once per file: ripgrep prints many lines of one. */
function createFilter(
  { realPath, isDirectory }: SearchTarget,
  isWithheld: ToolContext["isWithheld"] = () => false,
): (path: string) => boolean {
  // A single file was approved by itself.
  if (!isDirectory) return () => true;
  const known = new Map<string, boolean>();
  return (found) => {
    const path = join(realPath, found);
    const isShown =
      known.get(found) ??
      !(isWithheld(path) || isSecretFile(found) || (isGitConfig(path) && mayHoldCredentials(path)));
    known.set(found, isShown);
    return isShown;
  };
}

/** A search over a directory leaves out files that would need approval by name; the last matching glob decides. */
function withoutSecrets({ isDirectory }: SearchTarget): string[] {
  return isDirectory ? SECRET_FILE_GLOBS.map((glob) => `--iglob=!${glob}`) : [];
}

/** `files_with_matches` if the model does not give a mode. */
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
