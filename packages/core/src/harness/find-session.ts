import type { UnreadableSession } from "../session/list.ts";
import type { SessionInfo } from "../session/types.ts";
import { UsageError } from "./errors.ts";

const MAX_CANDIDATES = 5;
const ENTRY = /@([^@]+)$/;

/** How a session is searched for. */
interface FindOptions {
  /** Called when no session matches: returns the unreadable sessions, so that the reason can be shown. */
  listUnreadable?: () => readonly UnreadableSession[];
  /** True when numbers refer to the list that includes archived sessions at its end. */
  areArchivedNumbered?: boolean;
  /** How messages show the reference and the candidates. */
  formatter?: SessionFormatter | undefined;
}

/** How a front end formats references and sessions in messages, each on one line. */
export interface SessionFormatter {
  /** The reference that the user entered, shortened and escaped. */
  reference(text: string): string;
  /** A session that matches the reference. */
  session(info: SessionInfo): string;
}

const PLAIN_FORMATTER: SessionFormatter = { reference: (text) => text, session: ({ id }) => id };

/**
 * Resolves a REF: a number of the list, an id, a unique name, or a unique id prefix. Without REF the most recent
 * session that git does not track; archived sessions are found by id and name only.
 * @param sessions the most recently changed first, including archived ones.
 * @throws UsageError with the candidates if there is none or more than one.
 */
export function findSession(
  sessions: readonly SessionInfo[],
  reference: string | undefined,
  { listUnreadable = () => [], areArchivedNumbered = false, formatter = PLAIN_FORMATTER }: FindOptions = {},
): SessionInfo {
  const numbered = areArchivedNumbered ? withArchivedLast(sessions) : withoutArchived(sessions);
  const found =
    reference === undefined
      ? findMostRecent(sessions)
      : findByReference(sessions, reference, { numbered, formatter });
  if (found) return found;
  const unreadable = listUnreadable().find(({ id }) => matchesReference(id, reference));
  if (unreadable) throw new UsageError(unreadable.reason);
  if (sessions.length === 0) throw new UsageError("no sessions in this project yet");
  if (reference === undefined) throw new UsageError(explainNoMostRecent(sessions));
  throw new UsageError(
    `no session ${showReference(reference, formatter)}; ${listCandidates(sessions, formatter)}`,
  );
}

/**
 * The session with this name; undefined if there is none.
 * @throws UsageError with the ids if several have it.
 */
export function findNamedSession(
  sessions: readonly SessionInfo[],
  name: string,
  formatter: SessionFormatter = PLAIN_FORMATTER,
): SessionInfo | undefined {
  const wanted = name.trim();
  const matches = wanted === "" ? [] : sessions.filter((session) => session.name?.trim() === wanted);
  if (matches.length < 2) return matches[0];
  throw new UsageError(
    `${matches.length} sessions have the name ${showReference(wanted, formatter)}; ${listCandidates(matches, formatter)}`,
  );
}

/**
 * Splits `REF@ENTRY`; ENTRY is the id of an entry, or a label. A session's name may hold an `@` itself.
 * @throws UsageError if several sessions have the name.
 */
export function splitEntry(
  reference: string,
  sessions: readonly SessionInfo[],
): { reference: string; entry: string | undefined } {
  const entry = ENTRY.exec(reference)?.[1];
  return entry === undefined || findNamedSession(sessions, reference)
    ? { reference, entry: undefined }
    : { reference: reference.slice(0, -entry.length - 1), entry };
}

/**
 * The session that is continued when none is named: the one changed last that is neither archived nor tracked by git.
 */
export function findMostRecent(sessions: readonly SessionInfo[]): SessionInfo | undefined {
  return withoutArchived(sessions).find(({ tracked }) => !tracked);
}

function explainNoMostRecent(sessions: readonly SessionInfo[]): string {
  const [first] = withoutArchived(sessions);
  if (first === undefined)
    return "every session of this project is archived: diligent sessions list --archived";
  return `git tracks every session here, so others may have written them; to continue one, name it: diligent --continue ${first.id}`;
}

/** The sessions that lists show by default: neither archived ones nor those of sub-agents, which their parents name. */
export function withoutArchived(sessions: readonly SessionInfo[]): SessionInfo[] {
  return sessions.filter(({ archived, agent }) => !archived && agent === undefined);
}

/** All sessions, archived ones last, so that the others keep their numbers. */
export function withArchivedLast(sessions: readonly SessionInfo[]): SessionInfo[] {
  return [...withoutArchived(sessions), ...sessions.filter(({ archived }) => archived)];
}

function findByReference(
  sessions: readonly SessionInfo[],
  reference: string,
  { numbered, formatter }: { numbered: readonly SessionInfo[]; formatter: SessionFormatter },
): SessionInfo | undefined {
  // Never also an id prefix: a number beyond the end of the list would then select another session.
  if (isListNumber(reference)) return numbered[Number(reference) - 1];
  if (reference.trim() === "") return undefined;
  const exact = sessions.find(({ id }) => id === reference) ?? findNamedSession(sessions, reference);
  if (exact) return exact;
  const matches = sessions.filter(({ id }) => id.startsWith(reference));
  if (matches.length < 2) return matches[0];
  throw new UsageError(
    `${matches.length} sessions begin with ${reference}; ${listCandidates(matches, formatter)}`,
  );
}

function isListNumber(reference: string): boolean {
  return /^[0-9]{1,3}$/.test(reference);
}

function matchesReference(id: string, reference: string | undefined): boolean {
  return (
    reference === undefined || (!isListNumber(reference) && reference !== "" && id.startsWith(reference))
  );
}

/** A reference as given, quoted if it contains spaces. */
function showReference(reference: string, formatter: SessionFormatter): string {
  const shown = formatter.reference(reference);
  return /\s/.test(shown) || shown === "" ? `"${shown}"` : shown;
}

function listCandidates(sessions: readonly SessionInfo[], formatter: SessionFormatter): string {
  const shown = sessions.slice(0, MAX_CANDIDATES).map((info) => formatter.session(info));
  const more = sessions.length > shown.length ? `, and ${sessions.length - shown.length} more (--list)` : "";
  return `there are: ${shown.join(", ")}${more}`;
}
