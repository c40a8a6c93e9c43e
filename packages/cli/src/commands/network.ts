import {
  type NetworkRecord,
  type NetworkRecords,
  readNetworkRecords,
  type UnseenRecord,
} from "@diligent/core/run";
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
    : { connections: [], unseen: [] };
  const redactor = await openSavedRedactor(cwd, io.environment);
  const shown = redactor.redact(records);
  const isJson = switches.has("json");
  const lines = () => formatNetworkRecords(shown, io.stdout.columns ?? MIN_TABLE_COLUMNS).join("\n");
  io.stdout.write(
    isJson ? toJsonText([...shown.connections, ...shown.unseen]) : sanitizeTerminalText(`${lines()}\n`),
  );
  return EXIT_SUCCESS;
}

const MAX_TEXT_COLUMNS = 200;
// Below this, a table would be broken into pieces.
const MIN_TABLE_COLUMNS = 80;
const HEADINGS = ["HOST", "COUNT", "BYTES", "SENT", "PURPOSE", "ALLOWED BY"];
const RIGHT_ALIGNED: ReadonlySet<number> = new Set([1, 2, 3]);

/**
 * A table of the connections, with commands below their rows, and what cannot be seen.
 * @param columns the width of the screen.
 */
export function formatNetworkRecords({ connections, unseen }: NetworkRecords, columns: number): string[] {
  const sorted = connections.toSorted((left, right) => (toPlace(left) < toPlace(right) ? -1 : 1));
  const rows = sorted.map(toCells);
  const isTable = columns >= MIN_TABLE_COLUMNS;
  const table = isTable ? alignCells([HEADINGS, ...rows]) : ["", ...rows.map(stackCells)];
  const lines = sorted.flatMap((record, index) => [table[index + 1] ?? "", ...toDetails(record)]);
  return [
    ...(isTable && rows.length > 0 ? [table[0] ?? ""] : []),
    ...(rows.length === 0 ? ["No connections in this session."] : lines),
    ...describeUnseen(unseen),
  ];
}

function toPlace({ host, port }: NetworkRecord): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function toCells(record: NetworkRecord): string[] {
  const { allowed, by, bytes, bytesSent, problem, connections, purpose = "command" } = record;
  const why = [allowed ? by : `refused: ${by}`, ...(problem === undefined ? [] : [problem])].join("; ");
  return [
    toPlace(record),
    String(connections),
    allowed ? formatSize(bytes) : "-",
    bytesSent === undefined ? "-" : formatSize(bytesSent),
    purpose,
    toSingleLine(why, MAX_TEXT_COLUMNS),
  ];
}

/** The command or the server behind a connection. */
function toDetails({ command }: NetworkRecord): string[] {
  return command === undefined ? [] : [`    ${toSingleLine(command, MAX_TEXT_COLUMNS)}`];
}

function alignCells(rows: readonly (readonly string[])[]): string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return RIGHT_ALIGNED.has(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
}

function stackCells([
  place = "",
  count = "",
  bytes = "",
  sent = "",
  purpose = "",
  by = "",
]: string[]): string {
  const sentPart = sent === "-" ? "" : `, ${sent} sent`;
  return [place, `  ${purpose} ×${count}, ${bytes}${sentPart}`, `  ${by}`].join("\n");
}

function describeUnseen(unseen: readonly UnseenRecord[]): string[] {
  if (unseen.length === 0) return [];
  const lines = unseen.map(({ purpose, command = "all commands: there was no sandbox" }) => {
    return `  ${purpose}  ${toSingleLine(command, MAX_TEXT_COLUMNS)}`;
  });
  return ["", "Not seen, because these ran outside a sandbox:", ...lines];
}

const KILOBYTE = 1024;

function formatSize(bytes: number): string {
  if (bytes < KILOBYTE) return `${bytes} B`;
  if (bytes < KILOBYTE * KILOBYTE) return `${Math.round(bytes / KILOBYTE)} KB`;
  return `${(bytes / KILOBYTE / KILOBYTE).toFixed(1)} MB`;
}
