import { existsSync } from "node:fs";
import type { Notice, ProjectSession } from "@diligent/core/harness";
import { findNamedSession, findSession, splitEntry } from "@diligent/core/light";
import { now } from "@diligent/core/run";
import { listSessions, listUnreadableSessions, type SessionInfo } from "@diligent/core/sessions";
import type { RunCommand } from "../arguments/command.ts";
import { projectSessionsDir } from "../commands/list.ts";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { formatAge, formatLocalSecond, formatMessageCount, formatSize } from "../text/format.ts";
import { resolveDirectory } from "./project-directory.ts";
import { openSavedRedactor } from "./saved-secrets.ts";
import { SESSION_FORMATTER } from "./session-formatter.ts";

/** What to tell the user about a resumed session and about what has changed since. */
export function resumedNotices({
  earlier,
  fallback,
  model,
  cwd,
}: Pick<ProjectSession, "earlier" | "fallback" | "model" | "cwd">): Notice[] {
  if (!earlier?.info) return [];
  const { how, info, skipped, file, lastModelId } = earlier;
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
  if (info.tracked)
    notices.push(toNotice("tracked_session", `Git tracks that session, so others may have written it.`));
  if (skipped) {
    const message = `Session ${skipped.id} is newer and was skipped: git tracks it, so others may have written it. To continue it: diligent --continue ${skipped.id}`;
    notices.push(toNotice("skipped_session", message));
  }
  const before = file.header.cwd;
  // A damaged header does not contain it.
  if (before !== "" && before !== cwd) {
    const where = existsSync(before) ? before : `${before}, which is gone`;
    const message = `That session used ${where}; this one uses ${cwd}.`;
    notices.push(toNotice("other_directory", message));
  }
  if (fallback !== undefined) {
    const message = `The session used ${lastModelId}: ${fallback} Continuing with ${model.id}.`;
    notices.push({ level: "warning", code: "other_model", message });
  }
  return notices;
}

function toNotice(code: string, message: string): Notice {
  return { level: "info", code, message };
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
  const cwd = resolveDirectory(command.options.directory, io.cwd);
  const sessionsDir = projectSessionsDir(cwd, io);
  const redactor = openSavedRedactor(cwd, io.environment);
  const sessions = await listSessions(sessionsDir, { redactor });
  const { reference, entry } = splitEntry(redactor.redact(word.text), sessions);
  const isReference =
    command.prompt !== undefined || findNamedSession(sessions, reference, SESSION_FORMATTER) !== undefined;
  if (!isReference) return { ...command, resumption, prompt: word.text };
  const listUnreadable = () => listUnreadableSessions(sessionsDir);
  const { id } = mustFind(
    () => findSession(sessions, reference, { listUnreadable, formatter: SESSION_FORMATTER }),
    word.option,
  );
  return { ...command, resumption: { how, reference: entry === undefined ? id : `${id}@${entry}` } };
}

/** A user who forgot to quote the prompt is told how to write it. */
function mustFind(find: () => SessionInfo, option: string): SessionInfo {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      `${error.message}. A prompt follows, so the word after ${option} must be a session; if it belongs to the prompt, quote the whole prompt`,
    );
  }
}
