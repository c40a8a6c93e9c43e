import type { SessionInfo } from "@diligent/core/run";
import { formatAge, formatMessageCount, formatSize } from "../../session-text.ts";
import type { PickerItem } from "../view.ts";

const ORDERS = ["time", "size", "name"] as const;

/** What a list of sessions is sorted by: the last change, the size of the file, the name. */
export type SessionOrder = (typeof ORDERS)[number];

/** A session with what the list needs of it besides. */
export interface ListedSession {
  info: SessionInfo;
  /** Bytes of its file. */
  size: number;
  item: PickerItem;
}

/** The orders in turn, the first again behind the last. */
export function nextOrder(order: SessionOrder): SessionOrder {
  return ORDERS[(ORDERS.indexOf(order) + 1) % ORDERS.length] ?? "time";
}

/** What stands above the list; the usual order is not named. */
export function titleOf(order: SessionOrder): string {
  return order === "time" ? "Sessions" : `Sessions by ${order}`;
}

/** @param sessions the last changed first. */
export function sortSessions(
  sessions: readonly ListedSession[],
  order: SessionOrder,
): readonly ListedSession[] {
  switch (order) {
    case "time":
      return sessions;
    case "size":
      return sessions.toSorted((left, right) => right.size - left.size);
    case "name":
      return sessions.toSorted((left, right) => compareNames(nameOf(left.info), nameOf(right.info)));
  }
}

interface ItemContext {
  isCurrent: boolean;
  /** Bytes of its file. */
  size: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** What was said in it, as far as it is known. */
  text?: string | undefined;
}

/** A session as the list shows it, found by its id and by what was said in it. */
export function toListedSession(
  info: SessionInfo,
  { isCurrent, size, now, text }: ItemContext,
): ListedSession {
  const { id, firstUserMessage = "", messageCount, modified, parentSession } = info;
  const facts = [
    formatAge(now - modified.getTime()),
    formatMessageCount(messageCount),
    formatSize(size),
    ...(parentSession === undefined ? [] : [`copy of ${parentSession}`]),
  ];
  const item = {
    id,
    label: (isCurrent ? "● " : "") + nameOf(info),
    detail: facts.join(", "),
    searchText: `${id} ${text ?? firstUserMessage}`,
  };
  return { info, size, item };
}

/** The same session, which is found by more. */
export function withText(session: ListedSession, text: string): ListedSession {
  return { ...session, item: { ...session.item, searchText: `${session.info.id} ${text}` } };
}

function nameOf({ name, firstUserMessage }: SessionInfo): string {
  return name ?? firstUserMessage ?? "(no messages)";
}

function compareNames(left: string, right: string): number {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}
