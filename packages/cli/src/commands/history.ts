import { constants, setPriority } from "node:os";
import { resolve } from "node:path";
import { loadConfig } from "@diligent/core/harness";
import {
  type HistoryMatch,
  type HistorySession,
  type HistoryStats,
  isDamage,
  type SessionHistory,
  type UpdateOutcome,
} from "@diligent/core/history";
import { FOREIGN_AGENTS, findProjectRoot, homeDirectory, nearestName } from "@diligent/core/light";
import { findLeafId, pathTo } from "@diligent/core/run";
import type { SessionEntry } from "@diligent/core/sessions";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_FAILURE, EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import { toMarkdown } from "../export/export-document.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { type OpenedHistory, openHistory, readFoundEntries } from "../session/open-history.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { formatLocalMinute, formatSize, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { isDay, missingAction, readSubcommandArguments, unknownAction } from "./arguments.ts";

const TITLE_COLUMNS = 60;
const MAX_CANDIDATES = 5;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

/**
 * Searches the sessions of all projects, and manages the index for it.
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown action or session, an invalid option, or an index that is turned off.
 */
export async function runHistory(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("history", rest);
  const [action, ...more] = words;
  if (action === undefined) throw missingAction("history");
  if (!isSubcommandWord("history", action)) throw unknownAction("history", action);
  const cwd = resolveDirectory(directory, io.cwd);
  const isJson = switches.has("json");
  const { config } = await loadConfig(cwd, io.environment);
  const opened = await openHistory({ cwd, config, environment: io.environment });
  const { history } = opened;
  try {
    switch (action) {
      case "search": {
        const query = readQuery(more.join(" "), values, { ...io, cwd });
        const outcome = await update(opened, io);
        const found = search(history, query);
        if (found === undefined)
          throw new UsageError(
            'history search needs a word or a filter: diligent history search "some words"',
          );
        if (isJson) io.stdout.write(toJsonText(found.map(toRow)));
        else
          io.stdout.write(sanitizeTerminalText(formatMatches(found)) + describeRest(history, query, found));
        return warn(outcome, io);
      }
      case "show": {
        const outcome = await update(opened, io);
        const session = findSession(history, more);
        const entries = await orUsageError(() => readFoundEntries(session, opened.redactor));
        const path = pathTo(entries, findLeafId(entries));
        if (isJson) io.stdout.write(toJsonText({ ...toSessionRow(session), messages: messagesOf(path) }));
        else {
          const timestamp = entries[0]?.timestamp ?? new Date(session.modifiedMs).toISOString();
          const header = {
            type: "session" as const,
            version: 2,
            id: session.ref,
            timestamp,
            cwd: session.project,
          };
          io.stdout.write(toMarkdown({ header, path, name: session.title || undefined }));
        }
        return warn(outcome, io);
      }
      case "stats": {
        const outcome = await update(opened, io);
        const stats = history.stats();
        io.stdout.write(isJson ? toJsonText(stats) : formatStats(stats));
        return warn(outcome, io);
      }
      case "reindex": {
        if (!history.removeUnlessInUse())
          throw new UsageError("history: another diligent is updating the index; try again when it is done");
        const outcome = await update(opened, io);
        io.stdout.write(isJson ? toJsonText(history.stats()) : formatStats(history.stats()));
        return warn(outcome, io);
      }
      case "forget": {
        const outcome = await update(opened, io);
        const { ref } = findSession(history, more);
        history.forget(ref);
        io.stdout.write(
          isJson ? toJsonText({ ref }) : `${sanitizeTerminalText(ref)} is forgotten; its file stays.\n`,
        );
        return warn(outcome, io);
      }
    }
  } finally {
    history.close();
  }
}

/** Adds what has changed, at low priority, with a line of progress on a terminal. */
async function update({ history, options }: OpenedHistory, io: CliIo): Promise<UpdateOutcome> {
  const { stderr } = io;
  let isShown = false;
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // Not allowed here: it works at the usual priority.
  }
  const onProgress = (done: number, total: number) => {
    if (!stderr.isTerminal || done === total) return;
    isShown = true;
    stderr.write(`\rIndexing sessions: ${done} of ${total}`);
  };
  const outcome = await orUsageError(() => history.update({ ...options, onProgress }));
  if (isShown) stderr.write("\r\x1b[K");
  return outcome;
}

function warn({ isOwn, problems }: UpdateOutcome, { stderr }: CliIo): number {
  if (!isOwn)
    writeLine(stderr, "warning: another diligent is updating the index; the newest sessions may be missing");
  for (const problem of problems) writeLine(stderr, sanitizeTerminalText(`warning: ${problem}`));
  return problems.length > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

function search(
  history: SessionHistory,
  query: Parameters<SessionHistory["search"]>[0],
): HistoryMatch[] | undefined {
  try {
    return history.search(query);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new UsageError("the history index is damaged: run diligent history reindex");
  }
}

/** Says how much a limit has left out. */
function describeRest(
  history: SessionHistory,
  query: ReturnType<typeof readQuery>,
  { length }: readonly HistoryMatch[],
): string {
  if (length < query.limit) return "";
  const total = history.count(query);
  const hint = query.limit < MAX_LIMIT ? "; --limit shows more" : "";
  return total > length ? `The newest ${length} of ${total} places${hint}.\n` : "";
}

function findSession(history: SessionHistory, [ref, ...more]: readonly string[]): HistorySession {
  if (ref === undefined || more.length > 0)
    throw new UsageError("history needs one REF, as history search prints it");
  const [session, ...others] = history.findCandidates(ref);
  if (!session) throw new UsageError(`history: no session ${ref} in the index`);
  if (others.length === 0) return session;
  const candidates = [session, ...others];
  const shown = candidates
    .slice(0, MAX_CANDIDATES)
    .map((each) => `${each.ref} (${toSingleLine(each.title, TITLE_COLUMNS)})`);
  const hidden = candidates.length - shown.length;
  const rest = hidden > 0 ? `, and ${hidden} more` : "";
  throw new UsageError(
    `history: ${candidates.length} sessions begin with ${ref}: ${shown.join(", ")}${rest}`,
  );
}

function readQuery(query: string, values: ReadonlyMap<string, string>, io: CliIo) {
  const agent = values.get("agent");
  const agents = ["diligent", ...FOREIGN_AGENTS];
  if (agent !== undefined && !agents.includes(agent)) {
    const nearest = nearestName(agent, agents);
    throw new UsageError(
      `history: unknown agent ${agent} (${nearest ? `did you mean ${nearest}?` : agents.join(", ")})`,
    );
  }
  const since = values.get("since");
  const sinceMs = since === undefined ? undefined : Date.parse(isDay(since) ? `${since}T00:00:00` : since);
  if (Number.isNaN(sinceMs) || (since !== undefined && !isDay(since.slice(0, 10))))
    throw new UsageError(`history: --since ${since}: not a date such as 2026-05-01`);
  const limit = values.get("limit");
  if (limit !== undefined && (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_LIMIT))
    throw new UsageError(`history: --limit ${limit}: not a number from 1 to ${MAX_LIMIT}`);
  const named = values.get("project");
  const directory = named === undefined ? undefined : resolve(io.cwd, named);
  return {
    query,
    project: directory === undefined ? undefined : projectOf(directory, io),
    agent,
    file: values.get("file"),
    directory: io.cwd,
    tool: values.get("tool"),
    sinceMs,
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
  };
}

/** A project that no longer exists still has sessions in the index. */
function projectOf(directory: string, { environment }: CliIo): string {
  try {
    return findProjectRoot(directory, homeDirectory(environment));
  } catch {
    return directory;
  }
}

function toRow({ ref, agent, project, date, role, text, entryId }: HistoryMatch) {
  return { ref, agent, project, date, role, text, ...(entryId !== undefined && { entryId }) };
}

function toSessionRow({ ref, agent, project, title, path, modifiedMs }: HistorySession) {
  return { ref, agent, project, title, path, date: new Date(modifiedMs).toISOString() };
}

function messagesOf(path: readonly SessionEntry[]) {
  return path.flatMap((entry) => (entry.type === "message" ? [{ entryId: entry.id, ...entry.message }] : []));
}

/** Matches that follow each other in one session are below one heading. */
function formatMatches(matches: readonly HistoryMatch[]): string {
  if (matches.length === 0) return "Nothing found.\n";
  let last = "";
  const lines = matches.flatMap(({ ref, agent, project, date, role, text, entryId, title }) => {
    const heading = `${ref} [${formatLocalMinute(new Date(date))}] ${toSingleLine(title, TITLE_COLUMNS)} (${agent}, ${project || "unknown project"})`;
    const line = `  ${entryId === undefined ? "" : `${entryId} `}${role}: ${text}`;
    const isSame = ref === last;
    last = ref;
    return isSame ? [line] : [heading, line];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function formatStats({ sessions, messages, items, projects, bytes, agents }: HistoryStats): string {
  const counts = Object.entries(agents).map(([agent, count]) => `${agent} ${count}`);
  return [
    `Sessions: ${sessions}${counts.length > 0 ? ` (${counts.join(", ")})` : ""}`,
    `Messages: ${messages} in ${projects} project${projects === 1 ? "" : "s"}; ${items} searchable places`,
    `Index: ${formatSize(bytes)}`,
    "",
  ].join("\n");
}
