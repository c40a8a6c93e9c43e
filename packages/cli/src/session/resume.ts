import { existsSync } from "node:fs";
import type { HarnessSession, Notice } from "@diligent/core/harness";
import { findNamedSession, findSession, splitEntry } from "@diligent/core/light";
import { now } from "@diligent/core/run";
import { listSessions, listUnreadableSessions, type SessionInfo } from "@diligent/core/sessions";
import type { Resumption, RunCommand } from "../arguments/command.ts";
import { projectSessionsDir } from "../commands/list.ts";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { formatAge, formatLocalSecond, formatMessageCount, formatSize } from "../text/format.ts";
import { resolveDirectory } from "./project-directory.ts";
import { SESSION_WORDING } from "./session-wording.ts";

/** What to tell the user about a resumed session and about what has changed since. */
export function resumedNotices({
  earlier,
  fallback,
  model,
  cwd,
}: Pick<HarnessSession, "earlier" | "fallback" | "model" | "cwd">): Notice[] {
  if (!earlier?.info) return [];
  const { how, info, file, lastModelId } = earlier;
  const verb = how === "fork" ? "Forking" : "Resuming";
  const facts = [
    formatAge(now() - info.modified.getTime()),
    formatMessageCount(info.messageCount),
    formatSize(file.size),
  ];
  const notices: Notice[] = [
    {
      level: "info",
      code: "resumed",
      message: `${verb} session ${formatLocalSecond(info.created)}... (${facts.join(", ")})`,
    },
  ];
  const before = file.header.cwd;
  // A damaged header does not contain it.
  if (before !== "" && before !== cwd) {
    const where = existsSync(before) ? before : `${before}, which is gone`;
    const message = `That session used ${where}; this one uses ${cwd}.`;
    notices.push({ level: "info", code: "other_directory", message });
  }
  if (fallback !== undefined) {
    const message = `The session used ${lastModelId}: ${fallback} Continuing with ${model.id}.`;
    notices.push({ level: "warning", code: "other_model", message });
  }
  return notices;
}

/**
 * Decides whether the word after `--continue` and the like is a session's name or the prompt. If there is a further
 * prompt it must be a REF.
 * @throws UsageError if it is neither, or matches several sessions.
 */
export async function resolveResumption(command: RunCommand, io: CliIo): Promise<RunCommand> {
  const { word, ...resumption } = command.resumption ?? { how: "continue" as const };
  if (word === undefined) return command;
  const { how } = resumption;
  const sessionsDir = projectSessionsDir(resolveDirectory(command.options.directory, io.cwd), io);
  const sessions = await listSessions(sessionsDir);
  const { reference, entryId } = splitEntry(word);
  const isReference =
    command.prompt !== undefined || findNamedSession(sessions, reference, SESSION_WORDING) !== undefined;
  if (!isReference) return { ...command, resumption, prompt: word };
  const listUnreadable = () => listUnreadableSessions(sessionsDir);
  const { id } = mustFind(
    () => findSession(sessions, reference, { listUnreadable, wording: SESSION_WORDING }),
    how,
  );
  const found = entryId === undefined ? id : `${id}@${entryId}`;
  return { ...command, resumption: { how, reference: found } };
}

/** A user who forgot to quote the prompt is told how to write it. */
function mustFind(find: () => SessionInfo, how: Resumption["how"]): SessionInfo {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const option = how === "fork" ? "--fork" : "--continue";
    throw new UsageError(
      `the word after ${option} must be a session if a prompt follows (quote a prompt of several words): ${error.message}`,
    );
  }
}
