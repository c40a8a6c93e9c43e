import { pathTo, type SessionEntry } from "@diligent/core/run";
import { note } from "../commands/note.ts";
import type { CommandContext } from "../commands/types.ts";
import { promptText } from "../transcript-blocks.ts";
import { createChoice } from "./choice.ts";
import { changePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";
import { findHere, treeItems } from "./tree-items.ts";

const NAME = "tree";
const LABEL = "ctrl+l";
const MAX_LABEL_CHARACTERS = 60;

/** All branches of the session; undefined when nothing was said in it. */
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
      keys: [{ key: LABEL, label: "label" }],
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

/** Where the conversation goes on, and what is put into the editor there. */
interface Destination {
  entryId: string | null;
  text?: string;
}

async function goTo(id: string, context: CommandContext): Promise<void> {
  const { session } = await context.session();
  const { branches } = session;
  const destination = findDestination(branches.entries, id);
  if (destination.entryId === session.leafId) {
    if (destination.text === undefined) return note(context, "The conversation is there already.");
    return context.setPrompt(destination.text);
  }
  const go = (isSummarized: boolean) => branchTo(destination, isSummarized, context);
  if (!branches.findLeft(destination.entryId).some(isAnswer)) return go(false);
  const choices = [
    { label: "Just go there", run: () => go(false) },
    {
      label: "Go there with a summary of the branch that is left",
      detail: "one request; the model knows then what was tried",
      run: () => go(true),
    },
  ];
  context.open(createChoice("branch", "Go on from there", choices));
}

async function branchTo(
  { entryId, text }: Destination,
  isSummarized: boolean,
  context: CommandContext,
): Promise<void> {
  if (!(await context.branch(entryId, { isSummarized }))) return;
  note(context, "The conversation goes on from here; what was said elsewhere stays in /tree.");
  if (text !== undefined) context.setPrompt(text);
}

/** What a user said is said anew from the place in front of it; everything else is gone on behind. */
function findDestination(entries: readonly SessionEntry[], id: string): Destination {
  const path = pathTo(entries, id);
  const entry = path.at(-1);
  if (entry?.type !== "message" || entry.message.role !== "user") return { entryId: id };
  return { entryId: path.at(-2)?.id ?? null, text: promptText(entry.message) };
}

function isAnswer(entry: SessionEntry): boolean {
  return entry.type === "message" && entry.message.role === "assistant";
}
