import {
  assertNever,
  isConversationEntry,
  type Message,
  messageText,
  pathTo,
  promptText,
  type SessionBranches,
  type SessionEntry,
  type SessionTreeNode,
} from "@diligent/core/run";
import { formatTokens } from "../../print/summary.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import {
  type Choice,
  changePicker,
  createChoice,
  createPickerDialog,
  type Picker,
  replaceItems,
} from "./picker.ts";

const NAME = "tree";
const MAX_LABEL_CHARACTERS = 60;

/** All branches of the session; undefined if it has no messages. */
export async function treePicker(context: CommandContext): Promise<Picker | undefined> {
  const { session } = await context.session();
  const { branches } = session;
  const items = treeItems(branches);
  if (items.length === 0) return undefined;
  return {
    dialog: createPickerDialog({
      name: NAME,
      title: "Session tree",
      items,
      selected: findHere(items),
      keys: [{ action: "list.label", label: "label" }],
    }),
    choose: (id) => goTo(id, context),
    pressKey(_, id) {
      if (id === undefined) return;
      const text = branches.labels.get(id) ?? "";
      const input = { label: "Label", text };
      context.change((view) => changePicker(view, NAME, (dialog) => ({ ...dialog, input })));
    },
    submit(text, id) {
      if (id === undefined) return;
      branches.label(id, text.slice(0, MAX_LABEL_CHARACTERS).toWellFormed());
      const labelled = treeItems(branches);
      context.change((view) => changePicker(view, NAME, (dialog) => replaceItems(dialog, labelled)));
    },
  };
}

/**
 * Moves to the entry with this id or unique id prefix.
 * @throws Error if there is no such entry, or more than one.
 */
export async function goToEntry(reference: string, context: CommandContext): Promise<void> {
  const { session } = await context.session();
  const { entries } = session.branches;
  const found = entries.filter(({ id }) => id.startsWith(reference));
  const place = found.find(({ id }) => id === reference) ?? found[0];
  if (!place) throw new Error(`No entry ${toSingleLine(reference, 60)} in this session; /tree lists them.`);
  if (place.id !== reference && found.length > 1)
    throw new Error(`${found.length} entries begin with ${reference}; /tree lists them.`);
  await goTo(place.id, context);
}

/** The entry where the conversation continues, and the text for the editor. */
interface Destination {
  entryId: string | null;
  text?: string;
}

async function goTo(id: string, context: CommandContext): Promise<void> {
  const { session } = await context.session();
  const { branches } = session;
  const destination = findDestination(branches.entries, id);
  if (destination.entryId === session.leafId) {
    if (destination.text === undefined) return note(context, "The conversation is already there.");
    return context.setPrompt(destination.text);
  }
  const go = (isSummarized: boolean) => branchTo(destination, isSummarized, context);
  const choices: Choice[] = [{ label: "Restore conversation only", run: async () => void (await go(false)) }];
  const files = await filesChoice(destination, () => go(false), context);
  if (files) choices.push(files);
  if (branches.findLeft(destination.entryId).some(isAnswer)) {
    choices.push({
      label: "Restore conversation, with a summary of this branch",
      detail: "one request; tells the model what was tried",
      run: async () => void (await go(true)),
    });
  }
  if (choices.length > 1) context.open(createChoice("branch", "Continue from there", choices));
  else await go(false);
}

/** Undefined if the files are unchanged since then. */
async function filesChoice(
  { entryId }: Destination,
  go: () => Promise<boolean>,
  context: CommandContext,
): Promise<Choice | undefined> {
  const { session, checkpoints } = await context.session();
  const entryIds = new Set(pathTo(session.branches.entries, entryId).map(({ id }) => id));
  const planned = await checkpoints.jump(entryIds, { isDryRun: true });
  if (!planned || planned.restored.length === 0) return undefined;
  const count = planned.restored.length;
  return {
    label: "Restore conversation and files",
    detail: `${count === 1 ? "one path is" : `${count} paths are`} restored${describeLeft(planned.conflicts.length)}; /redo reverses that`,
    async run() {
      if (!(await go())) return;
      await context.moveFiles("jump", async (control) => {
        const restoration = await checkpoints.jump(entryIds, control);
        if (!restoration) return;
        const { describeRestoration } = await import("../../undo/describe.ts");
        context.print(describeRestoration(restoration).join("\n"));
      });
    },
  };
}

function describeLeft(conflicts: number): string {
  if (conflicts === 0) return "";
  return conflicts === 1 ? ", 1 changed since is kept" : `, ${conflicts} changed since are kept`;
}

async function branchTo(
  { entryId, text }: Destination,
  isSummarized: boolean,
  context: CommandContext,
): Promise<boolean> {
  if (!(await context.branch(entryId, { isSummarized }))) return false;
  note(context, "Continuing from here; the other branches stay in /tree.");
  if (text !== undefined) context.setPrompt(text);
  return true;
}

/** A user's message is edited and sent again from the entry before it; other entries are continued. */
function findDestination(entries: readonly SessionEntry[], id: string): Destination {
  const path = pathTo(entries, id);
  const entry = path.at(-1);
  if (entry?.type !== "message" || entry.message.role !== "user") return { entryId: id };
  return { entryId: path.at(-2)?.id ?? null, text: promptText(entry.message) };
}

function isAnswer(entry: SessionEntry): boolean {
  return entry.type === "message" && entry.message.role === "assistant";
}

const MAX_TEXT_COLUMNS = 300;
const ON_BRANCH = "●";
const ELSEWHERE = "○";
const HERE = "← you are here";

/**
 * The entries to continue from, as an indented list: the user's messages, summaries, and the end of each
 * branch. Each indentation step is a fork. An item's id is that of its entry.
 */
function treeItems({ tree, path, labels }: Pick<SessionBranches, "tree" | "path" | "labels">): PickerItem[] {
  const onPath = new Set(path);
  const here = path.at(-1);
  const shown = listShown(tree, here);
  return shown.map(({ entry, depth }) => {
    const label = labels.get(entry.id);
    const marks = [onPath.has(entry) ? ON_BRANCH : ELSEWHERE, ...(label === undefined ? [] : [`[${label}]`])];
    return {
      id: entry.id,
      label: `${marks.join(" ")} ${textOf(entry)}`,
      depth,
      ...(entry === here && { detail: HERE }),
    };
  });
}

/** The position of the conversation in the list. */
function findHere(items: readonly PickerItem[]): number {
  return Math.max(
    0,
    items.findIndex(({ detail }) => detail === HERE),
  );
}

interface ShownEntry {
  entry: SessionEntry;
  depth: number;
}

/**
 * In conversation order, branch after branch. Not recursive, because a branch may have thousands of entries.
 */
function listShown(tree: readonly SessionTreeNode[], here: SessionEntry | undefined): ShownEntry[] {
  const shown: ShownEntry[] = [];
  const waiting: { node: SessionTreeNode; depth: number }[] = [];
  const add = (nodes: readonly SessionTreeNode[], depth: number) => {
    const said = nodes.filter(isConversation);
    const inner = said.length > 1 ? depth + 1 : depth;
    for (const node of said.toReversed()) waiting.push({ node, depth: inner });
    return said.length;
  };
  // Alternative first messages are siblings.
  for (const node of tree.filter(isConversation).toReversed()) waiting.push({ node, depth: 0 });
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    const isEnd = add(node.children, depth) === 0;
    if (isShown(node.entry, isEnd || node.entry === here)) shown.push({ entry: node.entry, depth });
  }
  return shown;
}

/** False for entries that only describe a session: names, labels, additions of later versions. */
function isConversation({ entry, children }: SessionTreeNode): boolean {
  return isConversationEntry(entry) || children.length > 0;
}

function isShown(entry: SessionEntry, isEnd: boolean): boolean {
  if (entry.type === "message") return entry.message.role === "user" || isEnd;
  return entry.type === "compaction" || entry.type === "branch_summary" || isEnd;
}

function textOf(entry: SessionEntry): string {
  if (!isConversationEntry(entry)) return `(${entry.type})`;
  switch (entry.type) {
    case "message":
      return messageLabel(entry.message);
    case "compaction":
      return `⟳ compacted: ${formatTokens(entry.tokensBefore)} → ${formatTokens(entry.tokensAfter)} tokens`;
    case "branch_summary":
      return `↩ summary of an abandoned branch: ${toSingleLine(withoutHeading(entry.summary), MAX_TEXT_COLUMNS)}`;
    case "model_change":
      return `model: ${entry.modelId}`;
    case "compaction_undo":
      return "⟲ summary undone";
    case "prune":
      return "… old tool results shortened for the model";
    default:
      return assertNever(entry);
  }
}

/** All summaries begin with the same heading. */
function withoutHeading(summary: string): string {
  return summary.replace(/^\s*#[^\n]*\n/, "");
}

function messageLabel(message: Message): string {
  switch (message.role) {
    case "user":
      return toSingleLine(promptText(message), MAX_TEXT_COLUMNS) || "(no text)";
    case "assistant":
      return `… ${toSingleLine(messageText(message), MAX_TEXT_COLUMNS) || "(tool calls)"}`;
    case "tool_result":
      return `… result of ${message.toolName}`;
  }
}
