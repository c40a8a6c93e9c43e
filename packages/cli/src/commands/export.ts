import { findLeafId, pathTo } from "@diligent/core/run";
import {
  listSessions,
  listUnreadableSessions,
  readSessionFile,
  SessionFileError,
  type SessionInfo,
} from "@diligent/core/sessions";
import type { CliIo } from "../cli-io.ts";
import { EXIT_SUCCESS } from "../exit-codes.ts";
import { resolveNamed, toDocument, writeDocument } from "../export-document.ts";
import { EXPORT_FORMATS, type ExportFormat, findFormat } from "../export-format.ts";
import { findSession } from "../find-session.ts";
import { resolveDirectory } from "../resolve-directory.ts";
import { sanitizeTerminalText } from "../terminal-text.ts";
import { orUsageError, UsageError } from "../usage-error.ts";
import { writeLine } from "../write-line.ts";
import { projectSessionsDir } from "./list.ts";
import { readSubcommandArguments } from "./subcommand-arguments.ts";

/**
 * Writes a session as a document: on stdout, or into a new file.
 * @param directory as given with `-C`.
 * @throws UsageError when there is no such session, or the file is there already or cannot be written.
 */
export async function runExport(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, values } = readSubcommandArguments("export", rest);
  const [reference, ...more] = words;
  if (more[0] !== undefined) throw new UsageError(`export takes one REF, not also ${more[0]}`);
  const file = values.get("output");
  const format = readFormat(values.get("format")) ?? findFormat(file) ?? "md";
  const cwd = resolveDirectory(directory, io.cwd);
  const sessionsDir = projectSessionsDir(cwd, io);
  const sessions = await listSessions(sessionsDir);
  const session = findSession(sessions, reference, () => listUnreadableSessions(sessionsDir));
  const text = await orUsageError(() => readDocument(session, format), SessionFileError);
  if (file === undefined) writeOut(text, io);
  else {
    const path = resolveNamed(file, { cwd: io.cwd, environment: io.environment });
    await orUsageError(() => writeDocument(path, text));
    writeLine(io.stdout, `Written: ${path}`);
  }
  return EXIT_SUCCESS;
}

function readFormat(text: string | undefined): ExportFormat | undefined {
  const format = EXPORT_FORMATS.find((each) => each === text);
  if (text !== undefined && format === undefined)
    throw new UsageError(`export: --format ${text}: not one of ${EXPORT_FORMATS.join(", ")}`);
  return format;
}

function readDocument({ path, name }: SessionInfo, format: ExportFormat): string {
  const { header, entries } = readSessionFile(path);
  return toDocument(format, { header, path: pathTo(entries, findLeafId(entries)), name });
}

/** A file gets what was said as it was said; a terminal would obey some of it. */
function writeOut(text: string, { stdout }: CliIo): void {
  stdout.write(stdout.isTerminal ? sanitizeTerminalText(text) : text);
}
