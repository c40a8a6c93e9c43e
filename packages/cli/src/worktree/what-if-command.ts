import { isEffort } from "@diligent/core/interactive";
import { splitEntry } from "@diligent/core/light";
import { listSessions } from "@diligent/core/sessions";
import { toAmount } from "../arguments/parse.ts";
import {
  readOutputFormat,
  readSubcommandArguments,
  type SubcommandArguments,
} from "../commands/arguments.ts";
import { projectSessionsDir } from "../commands/list.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, RUN_EXIT_CODES, SIGNAL_EXIT_CODES, UsageError } from "../errors.ts";
import { type CliIo, type SignalName, writeLine } from "../io/io.ts";
import { findShownSession } from "../session/find-shown-session.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { formatWhatIf } from "./format-what-if.ts";
import { runVariants, type Variant, type WhatIfRun } from "./what-if.ts";

const MOST_RUNS = 100;

/**
 * Continues a session from an entry with each variant, and compares the outcomes.
 * @param directory as given with `-C`.
 * @throws UsageError if nothing was sent.
 */
export async function runWhatIf(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const parsed = readSubcommandArguments("what-if", rest);
  const format = readOutputFormat("what-if", parsed);
  const cwd = resolveDirectory(directory, io.cwd);
  const variants = readVariants(parsed);
  const runs = toRuns(parsed.values.get("runs"));
  const maxCost = toAmount("what-if: --max-cost", parsed.values.get("max-cost"));
  const { path, entry } = await findEntry(parsed, cwd, io);
  const stop = new AbortController();
  let received: SignalName | undefined;
  const unsubscribe = io.onSignal((signal) => {
    // The second signal does not wait for anything.
    if (received) io.exit(SIGNAL_EXIT_CODES[received]);
    received = signal;
    stop.abort();
  });
  const redactor = openSavedRedactor(cwd, io.environment);
  const report = (line: string) => writeLine(io.stderr, redactor.redact(line));
  const options = { path, entry, variants, runs, maxCost, isKept: parsed.switches.has("keep"), cwd };
  try {
    const done = redactor.redact(await runVariants(options, io, { stop: stop.signal, report }));
    if (format === "json") io.stdout.write(toJsonText(done));
    else if (format === "html") {
      const { toWhatIfPage } = await import("../html/what-if-page.ts");
      io.stdout.write(toWhatIfPage(`What if, from ${entry}`, done));
    } else io.stdout.write(sanitizeTerminalText(`${formatWhatIf(done).join("\n")}\n`));
    const wanted = variants.length * runs;
    if (done.length < wanted) report(`${done.length} of ${wanted} runs have ended.`);
    return received ? SIGNAL_EXIT_CODES[received] : toExitCode(done, wanted);
  } finally {
    unsubscribe();
  }
}

/** That a run was refused an approval, or ended at a limit, is its result. */
function toExitCode(done: readonly WhatIfRun[], wanted: number): number {
  if (done.some(({ stopReason }) => RUN_EXIT_CODES[stopReason] === EXIT_FAILURE)) return EXIT_FAILURE;
  return done.length < wanted ? RUN_EXIT_CODES.max_cost : EXIT_SUCCESS;
}

/** In the order of models, prompts, efforts. @throws UsageError without one, and for an unknown effort. */
function readVariants({ lists }: SubcommandArguments): Variant[] {
  const models = (lists.get("model") ?? []).map((value): Variant => ({ kind: "model", value }));
  const prompts = (lists.get("prompt-file") ?? []).map((value): Variant => ({ kind: "prompt", value }));
  const efforts = (lists.get("effort") ?? []).map((value): Variant => {
    if (!isEffort(value))
      throw new UsageError(`what-if: --effort ${value}: not one of off, low, medium, high, xhigh, max`);
    return { kind: "effort", value };
  });
  const variants = [...models, ...prompts, ...efforts];
  if (variants.length === 0) throw new UsageError("what-if needs --model, --prompt-file or --effort");
  return variants;
}

/** @throws UsageError for anything but a small number. */
function toRuns(text = "1"): number {
  const runs = Number(text);
  if (/^\d+$/.test(text) && runs >= 1 && runs <= MOST_RUNS) return runs;
  throw new UsageError(`what-if: --runs ${text}: not a number from 1 to ${MOST_RUNS}`);
}

async function findEntry(
  { words }: SubcommandArguments,
  cwd: string,
  io: CliIo,
): Promise<{ path: string; entry: string }> {
  const [given, ...more] = words;
  if (given === undefined || more.length > 0)
    throw new UsageError("what-if takes one REF@ENTRY; see diligent what-if --help");
  const redactor = openSavedRedactor(cwd, io.environment);
  const sessions = await listSessions(projectSessionsDir(cwd, io), { redactor });
  const { reference, entry } = splitEntry(given, sessions);
  const session = await findShownSession(reference, cwd, io);
  if (!session || entry === undefined)
    throw new UsageError(
      `what-if ${redactor.redact(given)}: needs REF@ENTRY; for entries, see diligent sessions show REF --entries`,
    );
  return { path: session.path, entry };
}
