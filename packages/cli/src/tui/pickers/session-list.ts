import { statSync } from "node:fs";
import { now, type SessionInfo } from "@diligent/core/run";
import type { PickerItem } from "../view.ts";
import {
  type ListedSession,
  nextOrder,
  type SessionOrder,
  sortSessions,
  titleOf,
  toListedSession,
  withText,
} from "./session-items.ts";

/** The sessions of a project in an order, with what is known of their texts. */
export class SessionList {
  private sessions: readonly ListedSession[];
  private order: SessionOrder = "time";
  private readonly texts = new Map<string, string>();

  /**
   * @param sessions the last changed first.
   * @param currentId the session that is open.
   */
  constructor(
    sessions: readonly SessionInfo[],
    private readonly currentId: string,
  ) {
    this.sessions = sessions.map((info) => this.list(info));
  }

  /** As they are shown. */
  get items(): PickerItem[] {
    return sortSessions(this.sessions, this.order).map(({ item }) => item);
  }

  /** Says what they are sorted by. */
  get title(): string {
    return titleOf(this.order);
  }

  find(id: string | undefined): SessionInfo | undefined {
    return this.sessions.find(({ info }) => info.id === id)?.info;
  }

  /** Takes the next order. */
  sort(): void {
    this.order = nextOrder(this.order);
  }

  remove(id: string): void {
    this.sessions = this.sessions.filter(({ info }) => info.id !== id);
  }

  /** An empty name takes the name away. */
  rename({ name: _, ...unnamed }: SessionInfo, name: string): void {
    const renamed = this.list(name === "" ? unnamed : { ...unnamed, name });
    this.replace(unnamed.id, () => renamed);
  }

  /** Adds what was said in a session, which it is found by from now on. */
  addText(id: string, text: string): void {
    this.texts.set(id, text);
    this.replace(id, (session) => withText(session, text));
  }

  private replace(id: string, change: (session: ListedSession) => ListedSession): void {
    this.sessions = this.sessions.map((each) => (each.info.id === id ? change(each) : each));
  }

  private list(info: SessionInfo): ListedSession {
    const isCurrent = info.id === this.currentId;
    const size = statSync(info.path, { throwIfNoEntry: false })?.size ?? 0;
    return toListedSession(info, { isCurrent, size, now: now(), text: this.texts.get(info.id) });
  }
}
