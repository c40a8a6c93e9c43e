import { RecordError, replaySession, type SessionReplay } from "@diligent/core/replay";
import { EXIT_FAILURE, EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { findShownSession } from "../session/find-shown-session.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { readSubcommandArguments } from "./arguments.ts";

/**
 * Replays a recorded session. Nothing is sent, run or changed.
 * @param directory as given with `-C`.
 * @returns 0 if everything was equal, 1 if not.
 * @throws UsageError for an unknown session, and for one without a record that can be read.
 */
export async function runReplay(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches } = readSubcommandArguments("replay", rest);
  const [reference, ...more] = words;
  if (more.length > 0) throw new UsageError("replay takes one REF; see diligent replay --help");
  const cwd = resolveDirectory(directory, io.cwd);
  const session = await findShownSession(reference, cwd, io);
  if (!session) throw new UsageError("replay: there is no session in this project");
  const replays = await replay(session.path);
  const text = switches.has("json") ? toJsonText(replays) : `${formatReplays(replays).join("\n")}\n`;
  io.stdout.write(switches.has("json") ? text : sanitizeTerminalText(text));
  return replays.some(({ difference }) => difference) ? EXIT_FAILURE : EXIT_SUCCESS;
}

async function replay(path: string): Promise<SessionReplay[]> {
  try {
    return await orUsageError(() => replaySession(path), RecordError);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`replay: ${error.message}`);
    throw error;
  }
}

const MAX_TEXT_COLUMNS = 200;

function formatReplays(replays: readonly SessionReplay[]): string[] {
  return replays.flatMap(({ sessionId, agent, openings, events, hash, difference, incomplete }) => {
    const name = agent === undefined ? sessionId : `${sessionId} (${agent})`;
    const end = incomplete === undefined ? [] : [`  The record is not complete: ${incomplete}.`];
    if (!difference) {
      const times = openings === 1 ? "" : ` in ${openings} openings`;
      return [`Equal: ${name}, ${events} events${times}, hash ${hash}`, ...end];
    }
    const { line, event, recorded, replayed, actual } = difference;
    return [
      `Different: ${name}, at event ${event}, line ${line} of the record`,
      `  recorded: ${recorded}`,
      `  replayed: ${replayed}`,
      ...(actual ? [`  ${toSingleLine(JSON.stringify(actual), MAX_TEXT_COLUMNS)}`] : []),
      ...end,
    ];
  });
}
