import { USAGE_GROUPS, type UsageGroup, UsageReport, type UsageRow } from "@diligent/core/cost";
import { resolvePaths } from "@diligent/core/light";
import { listSessions, readSessionFile } from "@diligent/core/sessions";
import { formatUsage } from "../cost/format-usage.ts";
import { openPrices } from "../cost/open-prices.ts";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { listKnownProjects } from "../session/known-projects.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { isDay, readOutputFormat, readSubcommandArguments } from "./arguments.ts";

const COLUMNS = 100;

/**
 * What the requests of all known projects have cost.
 * @param directory as given with `-C`.
 * @throws UsageError for a bad date or group.
 */
export async function runUsage(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const parsed = readSubcommandArguments("usage", rest);
  if (parsed.words[0] !== undefined) throw new UsageError(`usage takes no arguments: ${parsed.words[0]}`);
  const format = readOutputFormat("usage", parsed);
  const by = readGroup(parsed.values.get("by"));
  const since = readDate(parsed.values.get("since"));
  const cwd = resolveDirectory(directory, io.cwd);
  const rows = openSavedRedactor(cwd, io.environment).redact(await collect({ by, since, cwd }, io));
  if (format === "json") io.stdout.write(toJsonText(rows));
  else if (format === "html") {
    const { toUsagePage } = await import("../html/usage-page.ts");
    io.stdout.write(toUsagePage(rows, { by, since }));
  } else {
    const lines = formatUsage(rows, { by, columns: COLUMNS });
    io.stdout.write(sanitizeTerminalText(`${lines.join("\n")}\n`));
  }
  return EXIT_SUCCESS;
}

interface UsageQuery {
  by: UsageGroup;
  since: string | undefined;
  cwd: string;
}

async function collect({ by, since, cwd }: UsageQuery, io: CliIo): Promise<UsageRow[]> {
  const report = new UsageReport({ by, since, findPrice: await openPrices(cwd, io.environment) });
  const projects = await listKnownProjects(cwd, io);
  const sinceMs = since === undefined ? 0 : new Date(`${since}T00:00:00`).getTime();
  for (const project of projects) {
    for (const { path, modified } of await listSessions(resolvePaths(project).sessions)) {
      if (modified.getTime() < sinceMs) continue;
      const file = readQuietly(path);
      if (file) report.add(file, project);
    }
  }
  return report.list();
}

/** A session that cannot be read is listed by `diligent --list`; here it adds nothing. */
function readQuietly(path: string): ReturnType<typeof readSessionFile> | undefined {
  try {
    return readSessionFile(path);
  } catch {
    return undefined;
  }
}

function readGroup(text = "day"): UsageGroup {
  const group = USAGE_GROUPS.find((each) => each === text);
  if (group === undefined) throw new UsageError(`usage: --by ${text}: not one of ${USAGE_GROUPS.join(", ")}`);
  return group;
}

function readDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isDay(text)) throw new UsageError(`usage: --since ${text}: a date is written like 2026-01-31`);
  return text;
}
