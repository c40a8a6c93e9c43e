import { join } from "node:path";
import { describeEarlierSession, type HistoryMatch, type HistorySession } from "@diligent/core/history";
import { findLeafId, now, pathTo, type SessionEntry } from "@diligent/core/run";
import { toMarkdown, writeDocument } from "../../export/export-document.ts";
import { type OpenedHistory, openHistory, readFoundEntries } from "../../session/open-history.ts";
import { formatAge } from "../../text/format.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import { type CommandContext, note } from "../commands/types.ts";
import { type Choice, createChoice, createPickerDialog, type Picker } from "./picker.ts";

const MAX_SESSIONS = 200;
const MAX_COLUMNS = 200;

/**
 * The sessions of all projects and agents in which the words occur, the newest match first; undefined if there are
 * none. Choosing one asks what to do with it.
 * @throws UsageError if the index is turned off, and for a query without a word.
 */
export async function historySearchPicker(
  query: string,
  context: CommandContext,
): Promise<Picker | undefined> {
  const { cwd, loaded } = await context.session();
  const opened = await openHistory({ cwd, config: loaded.config, environment: context.environment });
  try {
    const matches = await searchUpdated(opened, query, context);
    if (matches.length === 0) return undefined;
    const items = matches.map(({ ref, agent, date, title, text }) => ({
      id: ref,
      label: toSingleLine(title === "" ? ref : title, MAX_COLUMNS),
      detail: toSingleLine(`${agent}, ${formatAge(now() - Date.parse(date))}: ${text}`, MAX_COLUMNS),
      searchText: toSingleLine(`${ref} ${text}`, MAX_COLUMNS * 2),
    }));
    return {
      dialog: createPickerDialog({ name: "history-search", title: "Sessions", items }),
      choose: (ref) => chooseAction(ref, opened, context),
      close: () => opened.history.close(),
    };
  } catch (error) {
    opened.history.close();
    throw error;
  }
}

async function searchUpdated(
  { history, options }: OpenedHistory,
  query: string,
  { change, isPlain }: CommandContext,
): Promise<readonly HistoryMatch[]> {
  let isSaid = false;
  const setHint = (hint: string | undefined) => {
    // Each hint would be a line of its own.
    if (!isPlain || !isSaid) change((view) => ({ ...view, hint }));
    isSaid = true;
  };
  try {
    await history.update({
      ...options,
      onProgress: (done, total) => setHint(`Indexing sessions: ${done} of ${total}`),
    });
  } finally {
    setHint(undefined);
  }
  const matches = history.searchSessions({ query, limit: MAX_SESSIONS });
  if (matches === undefined) throw new Error("/history needs a word to search for.");
  return matches;
}

async function chooseAction(
  ref: string,
  { history, redactor }: OpenedHistory,
  context: CommandContext,
): Promise<void> {
  const session = history.find(ref);
  history.close();
  if (!session) throw new Error(`Session ${ref} is no longer there.`);
  const { loaded, cwd } = await context.session();
  const read = () => readFoundEntries(session, redactor);
  const isOwn = session.agent === "diligent" && session.project === loaded.projectRoot;
  const choices: Choice[] = [
    ...(isOwn ? [{ label: "Resume", run: () => resume(session, context) }] : []),
    {
      label: "Continue here",
      detail: "a new session that begins with a summary of it",
      run: async () => continueHere(session, await read(), context),
    },
    {
      label: "Show",
      detail: context.isPlain ? "as Markdown" : "in $PAGER",
      run: async () => {
        if (context.isPlain) return context.print(toDocumentText(session, await read()));
        const { showDocument } = await import("../pager.ts");
        await showDocument(toDocumentText(session, await read()), context);
      },
    },
    {
      label: "Export",
      detail: "as Markdown, to a new file here",
      run: async () => {
        const path = join(cwd, `diligent-${session.ref.replace(/[^\w.-]/g, "-")}.md`);
        writeDocument(path, toDocumentText(session, await read()));
        note(context, `Exported to ${path}`);
      },
    },
  ];
  context.open(createChoice("history-action", toSingleLine(session.title || ref, MAX_COLUMNS), choices));
}

/** @throws Error while a task is running. */
async function resume({ ref }: HistorySession, context: CommandContext): Promise<void> {
  (await context.session()).session.assertIdle();
  await context.reopen({ how: "continue", reference: ref });
}

/** @throws Error while a task is running. */
async function continueHere(
  session: HistorySession,
  entries: readonly SessionEntry[],
  context: CommandContext,
): Promise<void> {
  const text = describeEarlierSession(session, entries);
  const { session: before } = await context.session();
  before.assertIdle();
  before.flush();
  await context.reopen({ how: "new" });
  const { session: opened } = await context.session();
  await opened.notify(text);
  note(context, `New session started. The model gets a summary of ${session.ref} with your next prompt.`);
}

function toDocumentText(session: HistorySession, entries: readonly SessionEntry[]): string {
  const timestamp = entries[0]?.timestamp ?? new Date(session.modifiedMs).toISOString();
  const header = { type: "session" as const, version: 2, id: session.ref, timestamp, cwd: session.project };
  return toMarkdown({ header, path: pathTo(entries, findLeafId(entries)), name: session.title || undefined });
}
