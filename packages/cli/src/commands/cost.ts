import { type CostReport, type FindPrice, readWithChildren, reportCost } from "@diligent/core/cost";
import type { SessionInfo } from "@diligent/core/run";
import { SessionFileError } from "@diligent/core/sessions";
import { formatCostReport } from "../cost/format-cost.ts";
import { openPrices } from "../cost/open-prices.ts";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { findShownSession } from "../session/find-shown-session.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { readOutputFormat, readSubcommandArguments } from "./arguments.ts";

const COLUMNS = 100;
const MAX_NAME_COLUMNS = 60;

/**
 * What the requests of a session have cost, and why.
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown session, and for a file that cannot be read.
 */
export async function runCost(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const parsed = readSubcommandArguments("cost", rest);
  const [reference, ...more] = parsed.words;
  if (more.length > 0) throw new UsageError("cost takes one REF; see diligent cost --help");
  const format = readOutputFormat("cost", parsed);
  const cwd = resolveDirectory(directory, io.cwd);
  const session = await findShownSession(reference, cwd, io);
  const redactor = openSavedRedactor(cwd, io.environment);
  const report = redactor.redact(await readReport(session, await openPrices(cwd, io.environment)));
  if (format === "json") {
    const { total, requests, breaks } = report;
    io.stdout.write(toJsonText({ total, requests, breaks }));
    return EXIT_SUCCESS;
  }
  if (format === "html") {
    const { toCostPage } = await import("../html/cost-page.ts");
    io.stdout.write(toCostPage(session ? `Cost of ${describe(session)}` : "No sessions found", report));
    return EXIT_SUCCESS;
  }
  const lines = session
    ? [`Cost of ${describe(session)}`, "", ...formatCostReport(report, { columns: COLUMNS, hasBars: true })]
    : ["No sessions found."];
  io.stdout.write(sanitizeTerminalText(`${lines.join("\n")}\n`));
  return EXIT_SUCCESS;
}

async function readReport(session: SessionInfo | undefined, findPrice: FindPrice): Promise<CostReport> {
  const files = session ? await orUsageError(() => readWithChildren(session.path), SessionFileError) : [];
  return reportCost(files, findPrice);
}

function describe({ id, name, firstUserMessage }: SessionInfo): string {
  const title = name ?? firstUserMessage;
  return title === undefined ? id : `${id} (${toSingleLine(title, MAX_NAME_COLUMNS)})`;
}
