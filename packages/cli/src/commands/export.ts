import { findSession, SecretRedactor } from "@diligent/core/light";
import { type DiligentConfig, findLeafId, pathTo } from "@diligent/core/run";
import {
  listSessions,
  listUnreadableSessions,
  readSessionFile,
  SessionFileError,
  type SessionInfo,
} from "@diligent/core/sessions";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import { resolveNamed, toDocument, writeDocument } from "../export/export-document.ts";
import { EXPORT_FORMATS, type ExportFormat, findFormat } from "../export/export-format.ts";
import type { TrajectorySurroundings } from "../export/read-trajectory.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openMaskingRedactor } from "../session/saved-secrets.ts";
import { SESSION_FORMATTER } from "../session/session-formatter.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { askYesNo, readSubcommandArguments } from "./arguments.ts";
import { projectSessionsDir } from "./list.ts";

/**
 * Writes a session as a document: to stdout or to a new file.
 * @param directory as given with `-C`.
 * @throws UsageError if there is no such session, or the file exists or cannot be written.
 */
export async function runExport(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, values, switches } = readSubcommandArguments("export", rest);
  const [reference, ...more] = words;
  if (more[0] !== undefined) throw new UsageError(`export takes one REF, not also ${more[0]}`);
  const file = values.get("output");
  const format = readFormat(values.get("format")) ?? findFormat(file) ?? "md";
  const cwd = resolveDirectory(directory, io.cwd);
  const sessionsDir = projectSessionsDir(cwd, io);
  const redactor = await openMaskingRedactor(cwd, io.environment);
  const sessions = await listSessions(sessionsDir, { redactor });
  const session = findSession(sessions, redactor.redact(reference), {
    listUnreadable: () => listUnreadableSessions(sessionsDir),
    formatter: SESSION_FORMATTER,
  });
  const isRaw = switches.has("raw");
  if (isRaw && !(await confirmRaw(io))) {
    writeLine(io.stderr, "Nothing was exported.");
    return EXIT_SUCCESS;
  }
  const shown = isRaw ? new SecretRedactor([]) : redactor;
  const surroundings = {
    sessionsDirectory: sessionsDir,
    redactor: shown,
    loadConfig: () => readConfig(cwd, io),
  };
  const text = await orUsageError(() => readDocument(session, format, surroundings), SessionFileError);
  if (file === undefined) writeOut(text, io);
  else {
    const path = resolveNamed(file, { cwd: io.cwd, environment: io.environment });
    await orUsageError(() => writeDocument(path, text));
    writeLine(io.stdout, `Exported to ${path}`);
  }
  return EXIT_SUCCESS;
}

/** @throws UsageError without a terminal: a script must not be able to say yes. */
async function confirmRaw(io: CliIo): Promise<boolean> {
  if (!io.stdin.isTerminal)
    throw new UsageError("export --raw shows secrets, so it asks first: run it in a terminal");
  return askYesNo("Export with keys and other secrets that are masked otherwise?", io);
}

function readFormat(text: string | undefined): ExportFormat | undefined {
  const format = EXPORT_FORMATS.find((each) => each === text);
  if (text !== undefined && format === undefined)
    throw new UsageError(`export: --format ${text}: not one of ${EXPORT_FORMATS.join(", ")}`);
  return format;
}

function readDocument(
  { path, name }: SessionInfo,
  format: ExportFormat,
  surroundings: TrajectorySurroundings,
): Promise<string> {
  const { header, entries } = readSessionFile(path, surroundings);
  return toDocument(
    format,
    { header, entries, path: pathTo(entries, findLeafId(entries)), name },
    surroundings,
  );
}

async function readConfig(cwd: string, { environment, stderr }: CliIo): Promise<DiligentConfig> {
  const { loadConfig } = await import("@diligent/core/harness");
  const { config, warnings } = await loadConfig(cwd, environment);
  for (const { message } of warnings) writeLine(stderr, `warning: ${message}`);
  return config;
}

/** A file gets the raw text; a terminal would interpret parts of it. */
function writeOut(text: string, { stdout }: CliIo): void {
  stdout.write(stdout.isTerminal ? sanitizeTerminalText(text) : text);
}
