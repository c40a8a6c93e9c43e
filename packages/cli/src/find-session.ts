import type { SessionInfo, UnreadableSession } from "@diligent/core/sessions";
import { formatLocalMinute } from "./session-text.ts";
import { toSingleLine } from "./terminal-text.ts";
import { UsageError } from "./usage-error.ts";

const MAX_CANDIDATES = 5;

/**
 * The session a REF means: a number of the list, an id, or the beginning of exactly one; without REF the most recent.
 * @param listUnreadable asked when there is none: those that cannot be opened, so that the reason can be told.
 * @throws UsageError with the candidates when there is none or more than one.
 */
export function findSession(
  sessions: readonly SessionInfo[],
  reference: string | undefined,
  listUnreadable: () => readonly UnreadableSession[] = () => [],
): SessionInfo {
  const [mostRecent] = sessions;
  const found = mostRecent && (reference === undefined ? mostRecent : findByReference(sessions, reference));
  if (found) return found;
  const unreadable = listUnreadable().find(({ id }) => isMeant(id, reference));
  if (unreadable) throw new UsageError(unreadable.reason);
  if (!mostRecent) throw new UsageError("there is no session in this project yet");
  throw new UsageError(`there is no session ${reference}; ${listCandidates(sessions)}`);
}

function findByReference(sessions: readonly SessionInfo[], reference: string): SessionInfo | undefined {
  // Never the beginning of an id as well: a number beyond the list would mean another session then.
  if (isListNumber(reference)) return sessions[Number(reference) - 1];
  const matches = reference === "" ? [] : sessions.filter(({ id }) => id.startsWith(reference));
  const exact = matches.find(({ id }) => id === reference);
  if (exact || matches.length < 2) return exact ?? matches[0];
  throw new UsageError(`${matches.length} sessions begin with ${reference}; ${listCandidates(matches)}`);
}

function isListNumber(reference: string): boolean {
  return /^[0-9]{1,3}$/.test(reference);
}

function isMeant(id: string, reference: string | undefined): boolean {
  return (
    reference === undefined || (!isListNumber(reference) && reference !== "" && id.startsWith(reference))
  );
}

function listCandidates(sessions: readonly SessionInfo[]): string {
  const shown = sessions.slice(0, MAX_CANDIDATES).map(({ id, modified, name, firstUserMessage }) => {
    return `${id} [${formatLocalMinute(modified)}] ${toSingleLine(name ?? firstUserMessage ?? "", 40)}`.trimEnd();
  });
  const more = sessions.length > shown.length ? `, and ${sessions.length - shown.length} more (--list)` : "";
  return `there are: ${shown.join(", ")}${more}`;
}
