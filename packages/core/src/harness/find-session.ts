import type { UnreadableSession } from "../session/list.ts";
import type { SessionInfo } from "../session/types.ts";
import { UsageError } from "./errors.ts";

const MAX_CANDIDATES = 5;
const ENTRY = /@([^@]+)$/;

/** How a session is searched. */
interface FindOptions {
  /** Called when there is none: returns the unreadable sessions, so that the reason can be shown. */
  listUnreadable?: () => readonly UnreadableSession[];
  /** Numbers refer to the list that ends with archived sessions. */
  areArchivedNumbered?: boolean;
  /** How messages show what was asked for and what there is. */
  wording?: SessionWording | undefined;
}

/** How a front end shows words and sessions in messages, each on one line. */
export interface SessionWording {
  /** What somebody has asked for, shortened and safe to be shown. */
  word(text: string): string;
  /** A session among several that could be meant. */
  session(info: SessionInfo): string;
}

const PLAIN_WORDING: SessionWording = { word: (text) => text, session: ({ id }) => id };

/**
 * Resolves a REF: a number of the list, an id, a unique name, or a unique id prefix. Without REF the most recent
 * session that git does not track; archived sessions are found by id and name only.
 * @param sessions the most recently changed first, including archived ones.
 * @throws UsageError with the candidates if there is none or more than one.
 */
export function findSession(
  sessions: readonly SessionInfo[],
  reference: string | undefined,
  { listUnreadable = () => [], areArchivedNumbered = false, wording = PLAIN_WORDING }: FindOptions = {},
): SessionInfo {
  const numbered = areArchivedNumbered ? withArchivedLast(sessions) : withoutArchived(sessions);
  const found =
    reference === undefined
      ? findMostRecent(sessions)
      : findByReference(sessions, reference, { numbered, wording });
  if (found) return found;
  const unreadable = listUnreadable().find(({ id }) => isMeant(id, reference));
  if (unreadable) throw new UsageError(unreadable.reason);
  if (sessions.length === 0) throw new UsageError("no sessions in this project yet");
  if (reference === undefined) throw new UsageError(explainNoMostRecent(sessions));
  throw new UsageError(`no session ${showWord(reference, wording)}; ${listCandidates(sessions, wording)}`);
}

/**
 * The session with this name; undefined if there is none.
 * @throws UsageError with the ids if several have it.
 */
export function findNamedSession(
  sessions: readonly SessionInfo[],
  name: string,
  wording: SessionWording = PLAIN_WORDING,
): SessionInfo | undefined {
  const wanted = name.trim();
  const matches = wanted === "" ? [] : sessions.filter((session) => session.name?.trim() === wanted);
  if (matches.length < 2) return matches[0];
  throw new UsageError(
    `${matches.length} sessions have the name ${showWord(wanted, wording)}; ${listCandidates(matches, wording)}`,
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

/** The session that is continued when none is named: the last changed one that is neither archived nor tracked by git. */
export function findMostRecent(sessions: readonly SessionInfo[]): SessionInfo | undefined {
  return withoutArchived(sessions).find(({ tracked }) => !tracked);
}

function explainNoMostRecent(sessions: readonly SessionInfo[]): string {
  const [first] = withoutArchived(sessions);
  if (first === undefined)
    return "every session of this project is archived: diligent sessions list --archived";
  return `git tracks every session here, so others may have written them; to continue one, name it: diligent --continue ${first.id}`;
}

/** The sessions that lists show by default. */
export function withoutArchived(sessions: readonly SessionInfo[]): SessionInfo[] {
  return sessions.filter(({ archived }) => !archived);
}

/** All sessions, archived ones last, so that the others keep their numbers. */
export function withArchivedLast(sessions: readonly SessionInfo[]): SessionInfo[] {
  return [...withoutArchived(sessions), ...sessions.filter(({ archived }) => archived)];
}

function findByReference(
  sessions: readonly SessionInfo[],
  reference: string,
  { numbered, wording }: { numbered: readonly SessionInfo[]; wording: SessionWording },
): SessionInfo | undefined {
  // Never also an id prefix: a number beyond the list would then select another session.
  if (isListNumber(reference)) return numbered[Number(reference) - 1];
  if (reference.trim() === "") return undefined;
  const exact = sessions.find(({ id }) => id === reference) ?? findNamedSession(sessions, reference);
  if (exact) return exact;
  const matches = sessions.filter(({ id }) => id.startsWith(reference));
  if (matches.length < 2) return matches[0];
  throw new UsageError(
    `${matches.length} sessions begin with ${reference}; ${listCandidates(matches, wording)}`,
  );
}

function isListNumber(reference: string): boolean {
  return /^[0-9]{1,3}$/.test(reference);
}

function isMeant(id: string, reference: string | undefined): boolean {
  return (
    reference === undefined || (!isListNumber(reference) && reference !== "" && id.startsWith(reference))
  );
}

/** A word as given, quoted if it contains spaces. */
function showWord(word: string, wording: SessionWording): string {
  const shown = wording.word(word);
  return /\s/.test(shown) || shown === "" ? `"${shown}"` : shown;
}

function listCandidates(sessions: readonly SessionInfo[], wording: SessionWording): string {
  const shown = sessions.slice(0, MAX_CANDIDATES).map((info) => wording.session(info));
  const more = sessions.length > shown.length ? `, and ${sessions.length - shown.length} more (--list)` : "";
  return `there are: ${shown.join(", ")}${more}`;
}
