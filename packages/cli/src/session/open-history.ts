import {
  type HistorySession,
  historyPaths,
  historySources,
  readForeignEntries,
  SessionHistory,
  type UpdateOptions,
} from "@diligent/core/history";
import { findProjectRoot, homeDirectory } from "@diligent/core/light";
import type { DiligentConfig, Environment, SessionEntry } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { UsageError } from "../errors.ts";
import { openMaskingRedactor } from "./saved-secrets.ts";

/** The index over all sessions, as the user's configuration has it. */
export interface OpenedHistory {
  history: SessionHistory;
  redactor: Awaited<ReturnType<typeof openMaskingRedactor>>;
  options: UpdateOptions;
}

/** @throws UsageError if it is turned off; an index from before is removed then. */
export async function openHistory({
  cwd,
  config,
  environment,
}: {
  cwd: string;
  config: Pick<DiligentConfig, "history">;
  environment: Environment;
}): Promise<OpenedHistory> {
  const paths = historyPaths(environment);
  if (!paths) throw new UsageError("history: there is no home directory for the index");
  const history = new SessionHistory(paths);
  if (config.history?.index === false) {
    history.remove();
    throw new UsageError("history is turned off: history.index is false in your configuration");
  }
  const redactor = await openMaskingRedactor(cwd, environment);
  const root = findProjectRoot(cwd, homeDirectory(environment));
  const sources = historySources(config.history?.sources);
  return { history, redactor, options: { environment, root, sources, redactor } };
}

/**
 * The entries of a session that was found.
 * @throws the file system's error, or SQLite's, if it cannot be read.
 */
export async function readFoundEntries(
  session: HistorySession,
  redactor: OpenedHistory["redactor"],
): Promise<SessionEntry[]> {
  if (session.agent === "diligent") return readSessionFile(session.path, { redactor }).entries;
  return redactor.redact(await readForeignEntries(session));
}
