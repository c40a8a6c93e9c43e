import { relative, resolve } from "node:path";
import { findProjectRoot, homeDirectory } from "@diligent/core/light";
import type { ReviewTarget, Severity } from "@diligent/core/review";
import { toAmount, toChoice } from "../arguments/parse.ts";
import { REVIEW_FORMATS, REVIEW_SEVERITIES } from "../arguments/subcommands.ts";
import { describeError, EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import type { CliInput, CliIo } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { limitHostsOf, readSubcommandArguments, type SubcommandArguments } from "./arguments.ts";

/**
 * Reviews changes and writes what was found to stdout.
 * @param directory as given with `-C`.
 * @throws UsageError if nothing was sent.
 */
export async function runReviewCommand(
  rest: readonly string[],
  io: CliIo,
  directory?: string,
): Promise<number> {
  const given = readSubcommandArguments("review", rest);
  const { values } = given;
  await limitHostsOf(given.lists);
  const format = toChoice("--format", values.get("format"), REVIEW_FORMATS) ?? "text";
  const failOn = toChoice("--fail-on", values.get("fail-on"), REVIEW_SEVERITIES);
  const maxCost = toAmount("--max-cost", values.get("max-cost"));
  const cwd = resolveDirectory(directory, io.cwd);
  const { runReview } = await import("../review/run-review.ts");
  const outcome = await runReview(
    {
      cwd,
      target: await readTarget(given, cwd, io),
      paths: readPaths(given, cwd, io),
      model: values.get("model"),
      maxCost,
      showsProgress: format === "text",
    },
    io,
  );
  if ("exitCode" in outcome) return outcome.exitCode;
  const { formatReview } = await import("../review/report.ts");
  io.stdout.write(formatReview(outcome.findings, outcome.changes, format));
  await io.stdout.flush();
  return (await fails(outcome.findings, failOn)) ? EXIT_FAILURE : EXIT_SUCCESS;
}

async function fails(
  findings: Parameters<typeof import("@diligent/core/review").hasSeverity>[0],
  least: Severity | undefined,
): Promise<boolean> {
  if (least === undefined) return false;
  return (await import("@diligent/core/review")).hasSeverity(findings, least);
}

async function readTarget(
  { words, separated, switches, values }: SubcommandArguments,
  cwd: string,
  { stdin }: CliIo,
): Promise<ReviewTarget> {
  const [range, extra] = words.slice(0, words.length - separated.length);
  if (extra !== undefined)
    throw new UsageError(`review: unexpected argument ${extra}; a range is one word, such as main...HEAD`);
  const file = values.get("diff");
  const isStaged = switches.has("staged");
  const chosen = [range !== undefined, isStaged, file !== undefined].filter(Boolean).length;
  if (chosen > 1) throw new UsageError("review: give a range, --staged or --diff, not several of them");
  if (file !== undefined) {
    if (separated.length > 0)
      throw new UsageError("review: --diff takes no paths; the file says what to review");
    const isStdin = file === "-";
    const text = isStdin ? await readStdin(stdin) : await readDiff(resolve(cwd, file), file);
    return { kind: "diff", text, name: isStdin ? "stdin" : file };
  }
  if (isStaged) return { kind: "staged" };
  return range === undefined ? { kind: "uncommitted" } : { kind: "range", range };
}

/** Paths after `--`, relative to the project's root. */
function readPaths({ separated }: SubcommandArguments, cwd: string, { environment }: CliIo): string[] {
  if (separated.length === 0) return [];
  const root = findProjectRoot(cwd, homeDirectory(environment));
  return separated.map((path) => {
    const found = relative(root, resolve(cwd, path));
    if (found === ".." || found.startsWith("../"))
      throw new UsageError(`review: ${path} is outside the project`);
    return found === "" ? "." : found;
  });
}

const MAX_MEGABYTES = 16;
const MAX_BYTES = MAX_MEGABYTES * 1024 * 1024;

async function readDiff(path: string, given: string): Promise<string> {
  try {
    const file = Bun.file(path);
    if (file.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_MEGABYTES} MB`);
    return await file.text();
  } catch (error) {
    throw new UsageError(`review: --diff ${given}: ${describeError(error)}`);
  }
}

async function readStdin(stdin: CliInput): Promise<string> {
  if (stdin.isTerminal)
    throw new UsageError("review: --diff - reads the diff from a pipe, not from a terminal");
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of stdin.stream()) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new UsageError(`review: the diff is larger than ${MAX_MEGABYTES} MB`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
