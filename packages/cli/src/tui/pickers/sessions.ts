import type { SessionInfo } from "@diligent/core/run";
import { readSessionText, removeSession, renameSession } from "@diligent/core/sessions";
import { formatMessageCount } from "../../session-text.ts";
import { toSingleLine } from "../../terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import type { ActionId } from "../keys/actions.ts";
import type { PickerDialog } from "../view.ts";
import { changePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";
import { SessionList } from "./session-list.ts";

const PICKER = "sessions";
// What is searched in; a thousand long sessions would fill the memory otherwise.
const MAX_SESSION_CHARACTERS = 200_000;
const MAX_ALL_CHARACTERS = 16_000_000;
const SESSIONS_AT_ONCE = 25;

/** The sessions of this project, also to rename and delete them; undefined when there is none. */
export async function sessionsPicker(context: CommandContext): Promise<Picker | undefined> {
  const { session } = await context.session();
  session.flush();
  const sessions = await session.list();
  if (sessions.length === 0) return undefined;
  return new SessionsPicker(context, { sessions, currentId: session.sessionId });
}

interface Parts {
  /** The last changed first. */
  sessions: readonly SessionInfo[];
  currentId: string;
}

class SessionsPicker implements Picker {
  readonly dialog: PickerDialog;
  private readonly currentId: string;
  private readonly list: SessionList;
  private readonly closing = new AbortController();

  constructor(
    private readonly context: CommandContext,
    { sessions, currentId }: Parts,
  ) {
    this.currentId = currentId;
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
    void this.readTexts(sessions);
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
      // Nothing matches the filter.
    } else if (action === "list.branches") {
      await this.choose(info.id);
      await this.context.runCommand("tree");
    } else if (action === "list.rename") {
      const text = info.name ?? "";
      this.change((dialog) => ({ ...dialog, input: { label: "New name", text } }));
    } else if (info.id === this.currentId) {
      this.context.change((view) => ({ ...view, hint: "The session that is open cannot be deleted" }));
    } else {
      const question = `Delete ${describe(info)} for good?`;
      this.change((dialog) => ({ ...dialog, question }));
    }
  }

  /** @throws the file system's error when it cannot be deleted. */
  confirm(id: string | undefined): void {
    const info = this.list.find(id);
    if (!info) return;
    removeSession(info);
    this.list.remove(info.id);
    this.refresh();
  }

  /** @throws the file system's error when the name cannot be kept. */
  async submit(text: string, id: string | undefined): Promise<void> {
    const info = this.list.find(id);
    if (!info) return;
    const name = text.trim();
    if (info.id === this.currentId) (await this.context.session()).session.rename(name);
    else renameSession(info, name);
    this.list.rename(info, name);
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

  /** What was said in the sessions can be searched as soon as it is read, the newest first. */
  private async readTexts(sessions: readonly SessionInfo[]): Promise<void> {
    const { signal } = this.closing;
    let room = MAX_ALL_CHARACTERS;
    let count = 0;
    for (const { id, path } of sessions) {
      const maxCharacters = Math.min(MAX_SESSION_CHARACTERS, room);
      if (signal.aborted || maxCharacters <= 0) break;
      // As it is compared: a text in small letters stays one and the same.
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
