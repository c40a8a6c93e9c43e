import { join } from "node:path";
import { isGitConfig, mayHoldCredentials } from "../../infrastructure/places/git-config.ts";
import { SECRET_FILE_GLOBS } from "../../infrastructure/places/secret-files.ts";
import { type RipgrepEnd, runRipgrep } from "../../infrastructure/processes/ripgrep.ts";
import type { ToolContext } from "../../tool/types.ts";
import type { GrepArguments } from "../grep.ts";
import { MAX_COLLECTED } from "../parameters.ts";
import type { Workspace } from "../workspace.ts";
import { createGrepReader, type GrepLine, type GrepMode, sortGrepLines } from "./grep-output.ts";
import type { SearchTarget } from "./search-gate.ts";
import { type SearchPlace, toRipgrepOptions } from "./search-place.ts";

const MAX_COLLECTED_CHARS = 4_000_000;

// Longer lines are generated or minified.
const MAX_LINE_BYTES = 500;

// Look-around and back references. With the engine chosen automatically for every pattern, one that ripgrep would explain
// away with a hint (such as a newline without multiline) silently finds nothing.
const NEEDS_PCRE2 = /\(\?<?[=!]|\\[1-9]/;

/** What a search came upon, sorted. */
export interface FoundLines {
  lines: GrepLine[];
  stopped: RipgrepEnd["stopped"];
}

/** One run of ripgrep in a place that is held open. */
export interface GrepSearch {
  args: GrepArguments;
  target: SearchTarget;
  place: SearchPlace;
  signal: AbortSignal;
  isWithheld: ToolContext["isWithheld"];
}

/** Runs ripgrep once. @throws Error in ripgrep's words, and when it was interrupted. */
export async function collectLines(
  workspace: Workspace,
  { args, target, place, signal, isWithheld }: GrepSearch,
): Promise<FoundLines> {
  const mode = modeOf(args);
  const readRecord = createGrepReader(mode);
  const isShown = createFilter(target, isWithheld);
  const lines: GrepLine[] = [];
  let chars = 0;
  const end = await runRipgrep({
    ...toRipgrepOptions(workspace, { flags: [...toFlags(args), ...withoutSecrets(target)], place, signal }),
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

/** False for a file that is not to be told of. Asks once for each: ripgrep prints many lines of one. */
function createFilter(
  { realPath, isDirectory }: SearchTarget,
  isWithheld: ToolContext["isWithheld"] = () => false,
): (path: string) => boolean {
  // Of a single file it was asked itself.
  if (!isDirectory) return () => true;
  const known = new Map<string, boolean>();
  return (found) => {
    const path = join(realPath, found);
    const isShown =
      known.get(found) ?? !(isWithheld(path) || (isGitConfig(path) && mayHoldCredentials(path)));
    known.set(found, isShown);
    return isShown;
  };
}

/** A search over a directory leaves out what would be asked about by name; the last glob that matches counts. */
function withoutSecrets({ isDirectory }: SearchTarget): string[] {
  return isDirectory ? SECRET_FILE_GLOBS.map((glob) => `--iglob=!${glob}`) : [];
}

/** `files_with_matches` where the model asks for none. */
export function modeOf(args: GrepArguments): GrepMode {
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
