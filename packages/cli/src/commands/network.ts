import { type NetworkRecord, readNetworkRecords } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { findShownSession } from "../session/find-shown-session.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openSavedRedactor } from "../session/saved-secrets.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { readSubcommandArguments } from "./arguments.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown session, and for file system errors.
 */
export async function runNetwork(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("network", rest);
  const [reference, ...more] = words;
  if (more.length > 0) throw new UsageError("network takes one REF; see diligent network --help");
  const cwd = resolveDirectory(directory, io.cwd);
  const session = await findShownSession(reference, cwd, io);
  const records = session
    ? await orUsageError(() => readNetworkRecords(readSessionFile(session.path).entries))
    : [];
  const redactor = await openSavedRedactor(cwd, io.environment);
  const shown = redactor.redact(records);
  const text = switches.has("json") ? toJsonText(shown) : `${formatNetworkRecords(shown).join("\n")}\n`;
  io.stdout.write(switches.has("json") ? text : sanitizeTerminalText(text));
  return EXIT_SUCCESS;
}

const MAX_TEXT_COLUMNS = 200;

/** One connection or several equal ones a line, with the command below. */
export function formatNetworkRecords(records: readonly NetworkRecord[]): string[] {
  if (records.length === 0) return ["No connections in this session."];
  return records.flatMap((record) => {
    const { command } = record;
    return [
      formatRecord(record),
      ...(command === undefined ? [] : [`    ${toSingleLine(command, MAX_TEXT_COLUMNS)}`]),
    ];
  });
}

function formatRecord({ host, port, allowed, by, bytes, problem, connections }: NetworkRecord): string {
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const count = connections === 1 ? "" : ` ×${connections}`;
  const size = allowed ? ` ${formatSize(bytes)}` : "";
  const why = [by, ...(problem === undefined ? [] : [problem])].join("; ");
  return toSingleLine(
    `${allowed ? "allowed" : "refused"} ${place}${count}${size} (${why})`,
    MAX_TEXT_COLUMNS * 2,
  );
}

const KILOBYTE = 1024;

function formatSize(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} B`;
  if (bytes < KILOBYTE * KILOBYTE) return `${Math.round(bytes / KILOBYTE)} KB`;
  return `${(bytes / KILOBYTE / KILOBYTE).toFixed(1)} MB`;
}
