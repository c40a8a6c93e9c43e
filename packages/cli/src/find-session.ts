import type { SessionInfo } from "@diligent/core/light";
import { formatLocalMinute } from "./session-text.ts";
import { toSingleLine } from "./terminal-text.ts";
import { UsageError } from "./usage-error.ts";

const MAX_CANDIDATES = 5;

/**
 * The session a REF means: a number of the list, an id, or the beginning of exactly one; without REF the most recent.
 * @throws UsageError with the candidates when there is none or more than one.
 */
export function findSession(sessions: readonly SessionInfo[], reference: string | undefined): SessionInfo {
  const [mostRecent] = sessions;
  if (!mostRecent) throw new UsageError("there is no session in this project yet");
  if (reference === undefined) return mostRecent;
  const numbered = /^[0-9]{1,3}$/.test(reference) ? sessions[Number(reference) - 1] : undefined;
  if (numbered) return numbered;
  const matches = reference === "" ? [] : sessions.filter(({ id }) => id.startsWith(reference));
  const exact = matches.find(({ id }) => id === reference);
  const [only, ...others] = exact ? [exact] : matches;
  if (only && others.length === 0) return only;
  const problem = only
    ? `${matches.length} sessions begin with ${reference}`
    : `there is no session ${reference}`;
  throw new UsageError(`${problem}; ${listCandidates(only ? matches : sessions)}`);
}

function listCandidates(sessions: readonly SessionInfo[]): string {
  const shown = sessions.slice(0, MAX_CANDIDATES).map(({ id, modified, name, firstUserMessage }) => {
    return `${id} [${formatLocalMinute(modified)}] ${toSingleLine(name ?? firstUserMessage ?? "", 40)}`.trimEnd();
  });
  const more = sessions.length > shown.length ? `, and ${sessions.length - shown.length} more (--list)` : "";
  return `there are: ${shown.join(", ")}${more}`;
}
