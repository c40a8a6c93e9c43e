import { pathTo, promptText, type SessionEntry } from "@diligent/core/run";
import { toSingleLine } from "../../terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../note.ts";
import { type Choice, createChoice } from "./choice.ts";
import { changePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";
import { findHere, treeItems } from "./tree-items.ts";

const NAME = "tree";
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
 * Goes to the place with this id, or with the only one that begins so.
 * @throws Error when there is no such place, or more than one.
 */
export async function goToPlace(reference: string, context: CommandContext): Promise<void> {
  const { session } = await context.session();
  const { entries } = session.branches;
  const found = entries.filter(({ id }) => id.startsWith(reference));
  const place = found.find(({ id }) => id === reference) ?? found[0];
  if (!place)
    throw new Error(`There is no place ${toSingleLine(reference, 60)} in this session; /tree lists them.`);
  if (place.id !== reference && found.length > 1)
    throw new Error(`${found.length} places begin with ${reference}; /tree lists them.`);
  await goTo(place.id, context);
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
  const choices: Choice[] = [{ label: "Just go there", run: async () => void (await go(false)) }];
  const files = await filesChoice(destination, () => go(false), context);
  if (files) choices.push(files);
  if (branches.findLeft(destination.entryId).some(isAnswer)) {
    choices.push({
      label: "Go there with a summary of the branch that is left",
      detail: "one request; the model knows then what was tried",
      run: async () => void (await go(true)),
    });
  }
  if (choices.length > 1) context.open(createChoice("branch", "Go on from there", choices));
  else await go(false);
}

/** Undefined when the files are where they were then. */
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
    label: "Go there, the files too",
    detail: `${count === 1 ? "one path is" : `${count} paths are`} brought back${describeLeft(planned.conflicts.length)}; /redo undoes that`,
    async run() {
      if (!(await go())) return;
      await context.moveFiles("jump", async (control) => {
        const restoration = await checkpoints.jump(entryIds, control);
        if (!restoration) return;
        const { describeRestoration } = await import("../../undo/describe-restoration.ts");
        context.print(describeRestoration(restoration).join("\n"));
      });
    },
  };
}

function describeLeft(conflicts: number): string {
  if (conflicts === 0) return "";
  return conflicts === 1
    ? ", one that was changed since stays"
    : `, ${conflicts} that were changed since stay`;
}

async function branchTo(
  { entryId, text }: Destination,
  isSummarized: boolean,
  context: CommandContext,
): Promise<boolean> {
  if (!(await context.branch(entryId, { isSummarized }))) return false;
  note(context, "The conversation goes on from here; what was said elsewhere stays in /tree.");
  if (text !== undefined) context.setPrompt(text);
  return true;
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
