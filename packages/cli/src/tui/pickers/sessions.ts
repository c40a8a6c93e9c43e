import { statSync } from "node:fs";
import { withoutArchived } from "@diligent/core/light";
import { forgetSessionGrants, now, type SessionInfo } from "@diligent/core/run";
import { readSessionText, removeSession, renameSession } from "@diligent/core/sessions";
import { formatAge, formatMessageCount, formatSize } from "../../text/format.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import type { ActionId } from "../keys/keymap.ts";
import type { PickerDialog, PickerItem } from "../view.ts";
import { changePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";

const PICKER = "sessions";
// The maximum text to search; a thousand long sessions would otherwise fill the memory.
const MAX_SESSION_CHARACTERS = 200_000;
const MAX_ALL_CHARACTERS = 16_000_000;
const SESSIONS_AT_ONCE = 25;

/**
 * The unarchived sessions of this project, which can also be renamed and deleted; undefined if there are
 * none.
 */
export async function sessionsPicker(context: CommandContext): Promise<Picker | undefined> {
  const { session } = await context.session();
  session.flush();
  const sessions = withoutArchived(await session.list());
  if (sessions.length === 0) return undefined;
  return new SessionsPicker(context, { sessions, currentId: session.sessionId });
}

interface Deps {
  /** The most recently changed first. */
  sessions: readonly SessionInfo[];
  currentId: string;
}

class SessionsPicker implements Picker {
  readonly dialog: PickerDialog;
  private readonly currentId: string;
  private readonly sessions: readonly SessionInfo[];
  private readonly list: SessionList;
  private readonly closing = new AbortController();

  constructor(
    private readonly context: CommandContext,
    { sessions, currentId }: Deps,
  ) {
    this.currentId = currentId;
    this.sessions = sessions;
    this.list = new SessionList(sessions, currentId);
    this.dialog = createPickerDialog({
      name: PICKER,
      title: this.list.title,
      items: this.list.items,
      keys: [
        { action: "list.sort", label: "sort" },
        { action: "list.rename", label: "rename" },
        { action: "list.delete", label: "delete" },
        { action: "list.branches", label: "branches" },
      ],
    });
  }

  onOpened(): void {
    void this.readTexts();
  }

  async choose(id: string): Promise<void> {
    this.close();
    if (id !== this.currentId) await this.context.reopen({ how: "continue", reference: id });
  }

  async pressKey(action: ActionId, id: string | undefined): Promise<void> {
    const info = this.list.find(id);
    if (action === "list.sort") {
      this.sort();
    } else if (!info) {
      // The filter matches nothing.
    } else if (action === "list.branches") {
      await this.choose(info.id);
      await this.context.runCommand("tree");
    } else if (action === "list.rename") {
      const text = info.name ?? "";
      this.change((dialog) => ({ ...dialog, input: { label: "New name", text } }));
    } else if (info.id === this.currentId) {
      this.context.change((view) => ({ ...view, hint: "Cannot delete the open session" }));
    } else {
      const question = `Permanently delete ${describe(info)}?`;
      this.change((dialog) => ({ ...dialog, question }));
    }
  }

  /** @throws the file system's error if it cannot be deleted. */
  confirm(id: string | undefined): void {
    const info = this.list.find(id);
    if (!info) return;
    removeSession(info);
    forgetSessionGrants(this.context.environment, info.id);
    this.list.remove(info.id);
    this.refresh();
  }

  /** @throws the file system's error if the name cannot be saved. */
  async submit(text: string, id: string | undefined): Promise<void> {
    const info = this.list.find(id);
    if (!info) return;
    const name = text.trim();
    const { session, redactor } = await this.context.session();
    if (info.id === this.currentId) session.rename(name);
    else renameSession(info, name, { redactor });
    this.list.rename(info, redactor.redact(name));
    this.refresh();
  }

  close(): void {
    this.closing.abort();
  }

  private sort(): void {
    this.list.sort();
    this.refresh();
    const { title } = this.list;
    this.change((dialog) => ({ ...dialog, title, selected: 0 }));
  }

  private refresh(): void {
    const { items } = this.list;
    this.change((dialog) => replaceItems(dialog, items));
  }

  private change(change: (dialog: PickerDialog) => PickerDialog): void {
    this.context.change((view) => changePicker(view, PICKER, change));
  }

  /** The messages of the sessions become searchable as soon as they are read, newest session first. */
  private async readTexts(): Promise<void> {
    const { signal } = this.closing;
    let room = MAX_ALL_CHARACTERS;
    let count = 0;
    for (const { id, path } of this.sessions) {
      const maxCharacters = Math.min(MAX_SESSION_CHARACTERS, room);
      if (signal.aborted || maxCharacters <= 0) break;
      // In the form used for comparison: lower-casing then returns the same text.
      const text = (await readSessionText(path, { maxCharacters, signal })).toLowerCase();
      room -= text.length;
      this.list.addText(id, text);
      count++;
      if (count % SESSIONS_AT_ONCE === 0) this.refresh();
    }
    if (!signal.aborted) this.refresh();
  }
}

function describe({ id, messageCount, name, firstUserMessage }: SessionInfo): string {
  return `“${toSingleLine(name ?? firstUserMessage ?? id, 60)}” (${formatMessageCount(messageCount)})`;
}

const ORDERS = ["time", "size", "name"] as const;

/** The sort order of a list of sessions: last change, file size, or name. */
type SessionOrder = (typeof ORDERS)[number];

/** A session with further data for the list. */
interface ListedSession {
  info: SessionInfo;
  /** The size of its file in bytes. */
  size: number;
  item: PickerItem;
}

/** The orders in turn; the last is followed by the first. */
function nextOrder(order: SessionOrder): SessionOrder {
  return ORDERS[(ORDERS.indexOf(order) + 1) % ORDERS.length] ?? "time";
}

/** The title of the list; the default order is not mentioned. */
function titleOf(order: SessionOrder): string {
  return order === "time" ? "Sessions" : `Sessions by ${order}`;
}

/** @param sessions the most recently changed first. */
function sortSessions(sessions: readonly ListedSession[], order: SessionOrder): readonly ListedSession[] {
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
  /** The size of its file in bytes. */
  size: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** Its messages, as far as they are known. */
  text?: string | undefined;
}

/** A session as the list shows it, found by its id and by its messages. */
function toListedSession(info: SessionInfo, { isCurrent, size, now, text }: ItemContext): ListedSession {
  const { id, firstUserMessage = "", messageCount, modified, parentSession, tracked } = info;
  const facts = [
    formatAge(now - modified.getTime()),
    formatMessageCount(messageCount),
    formatSize(size),
    ...(parentSession === undefined ? [] : [`fork of ${parentSession}`]),
    ...(tracked ? ["from the repository"] : []),
  ];
  const item = {
    id,
    label: (isCurrent ? "● " : "") + nameOf(info),
    detail: facts.join(", "),
    searchText: `${id} ${text ?? firstUserMessage}`,
  };
  return { info, size, item };
}

/** The same session with more searchable text. */
function withText(session: ListedSession, text: string): ListedSession {
  return { ...session, item: { ...session.item, searchText: `${session.info.id} ${text}` } };
}

function nameOf({ name, firstUserMessage }: SessionInfo): string {
  return name ?? firstUserMessage ?? "(no messages)";
}

function compareNames(left: string, right: string): number {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sessions of a project in an order, with their known texts. */
class SessionList {
  private sessions: readonly ListedSession[];
  private order: SessionOrder = "time";
  private readonly texts = new Map<string, string>();

  /**
   * @param sessions the most recently changed first.
   * @param currentId the open session.
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

  /** Names the sort order. */
  get title(): string {
    return titleOf(this.order);
  }

  find(id: string | undefined): SessionInfo | undefined {
    return this.sessions.find(({ info }) => info.id === id)?.info;
  }

  /** Switches to the next order. */
  sort(): void {
    this.order = nextOrder(this.order);
  }

  remove(id: string): void {
    this.sessions = this.sessions.filter(({ info }) => info.id !== id);
  }

  /** An empty name removes the name. */
  rename({ name: _, ...unnamed }: SessionInfo, name: string): void {
    const renamed = this.list(name === "" ? unnamed : { ...unnamed, name });
    this.replace(unnamed.id, () => renamed);
  }

  /** Adds the messages of a session, which can be searched from now on. */
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
