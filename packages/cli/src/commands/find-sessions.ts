import type { SessionHistory } from "@diligent/core/history";
import {
  findProjectRoot,
  homeDirectory,
  resolvePaths,
  withArchivedLast,
  withoutArchived,
} from "@diligent/core/light";
import {
  findInSession,
  listSessions,
  type SessionInfo,
  type SessionMatch,
  type SessionReadOptions,
} from "@diligent/core/sessions";
import { EXIT_SUCCESS, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { listKnownProjects, openSessionIndex } from "../session/known-projects.ts";
import { openMaskingRedactor } from "../session/saved-secrets.ts";
import { sessionMarks } from "../session/session-formatter.ts";
import { formatLocalMinute, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";

const NAME_COLUMNS = 60;

interface FindOptions {
  /** Searches messages, names and labels, case-insensitively. */
  text: string;
  /** The project to search. */
  cwd: string;
  /** Search every project in which a prompt was sent, that of `cwd` first. */
  isEverywhere: boolean;
  areArchivedShown: boolean;
  isJson: boolean;
}

/** A session that matches. */
interface FoundSession {
  info: SessionInfo;
  /** The project's root. */
  project: string;
  matches: readonly SessionMatch[];
}

/**
 * Prints where a text occurs in earlier sessions, the most recently changed first.
 * @throws UsageError without a text.
 */
export async function findSessions(options: FindOptions, io: CliIo): Promise<number> {
  const { text, isJson, isEverywhere } = options;
  if (text === "") throw new UsageError('sessions find needs a text: diligent sessions find "some text"');
  const found: FoundSession[] = [];
  const redactor = await openMaskingRedactor(options.cwd, io.environment);
  // The index spares reading the files in which a word does not occur.
  const index = await openSessionIndex(io);
  const projects = isEverywhere
    ? await listKnownProjects(options.cwd, io)
    : [findProjectRoot(options.cwd, homeDirectory(io.environment))];
  for (const project of projects) {
    const all = await listSessions(resolvePaths(project).sessions, { redactor });
    const sessions = options.areArchivedShown ? withArchivedLast(all) : withoutArchived(all);
    const words = redactor.redact(text).split(/\s+/);
    const without = findWithout(index, sessions, words);
    for (const info of sessions) {
      if (without.has(info.path)) continue;
      const matches = search(info, redactor.redact(text), { redactor });
      if (matches.length > 0) found.push({ info, project, matches });
    }
  }
  index?.close();
  if (isJson) io.stdout.write(toJsonText(found.flatMap(toRows)));
  else if (found.length === 0) io.stdout.write("Nothing found.\n");
  else for (const hit of found) io.stdout.write(sanitizeTerminalText(formatHit(hit, isEverywhere)));
  return EXIT_SUCCESS;
}

function findWithout(
  index: SessionHistory | undefined,
  sessions: readonly SessionInfo[],
  words: readonly string[],
): ReadonlySet<string> {
  try {
    return (
      index?.findWithout(
        sessions.map(({ path }) => path),
        words,
      ) ?? new Set()
    );
  } catch {
    return new Set(); // A damaged index only costs time here: all files are read.
  }
}

function search({ path }: SessionInfo, text: string, options: SessionReadOptions): SessionMatch[] {
  try {
    return findInSession(path, text, options);
  } catch {
    // Removed since it was listed.
    return [];
  }
}

function toRows({ info, project, matches }: FoundSession) {
  const { id, path, name, modified, archived, tracked } = info;
  return matches.map((match) => ({
    id,
    ...match,
    ...(name !== undefined && { name }),
    modified,
    project,
    path,
    ...(archived && { archived }),
    ...(tracked && { tracked }),
  }));
}

function formatHit({ info, project, matches }: FoundSession, isEverywhere: boolean): string {
  const { id, modified, name, firstUserMessage = "" } = info;
  const title = `${id} [${formatLocalMinute(modified)}] ${toSingleLine(name ?? firstUserMessage, NAME_COLUMNS)}`;
  const heading = [title.trimEnd(), ...sessionMarks(info), ...(isEverywhere ? [`in ${project}`] : [])];
  const lines = matches.map(({ entryId, kind, text }) => `  ${entryId} ${kind}: ${text}`);
  return [heading.join(" "), ...lines].map((line) => `${line}\n`).join("");
}
