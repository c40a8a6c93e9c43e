import { type KnowledgeEntry, now } from "@diligent/core/run";
import type { OpenKnowledge } from "../../commands/knowledge.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import type { PickerItem } from "../view.ts";
import { changePicker, closePicker, createPickerDialog, type Picker, replaceItems } from "./picker.ts";

const NAME = "knowledge";
const MAX_CONTENT_COLUMNS = 1_000;

/** The project's knowledge, the highest score first; undefined if there is none. */
export async function knowledgePicker(context: CommandContext): Promise<Picker | undefined> {
  const { cwd } = await context.session();
  const { openKnowledgeStore } = await import("../../commands/knowledge.ts");
  const open = () => openKnowledgeStore(cwd, context);
  let knowledge = await open();
  const items = await toItems(knowledge);
  if (items.length === 0) return undefined;
  const find = (id: string | undefined) => knowledge.entries.find((entry) => entry.id === id);
  return {
    dialog: createPickerDialog({
      name: NAME,
      title:
        knowledge.unused === undefined ? "Knowledge" : "Knowledge (not used until you trust it with /trust)",
      items,
      keys: [
        { action: "list.delete", label: "forget" },
        { action: "list.correct", label: "correct" },
      ],
    }),
    async choose(id) {
      const { formatKnowledge } = await import("../../commands/knowledge.ts");
      const entry = find(id);
      if (entry) context.print(formatKnowledge(entry, knowledge, now()));
    },
    pressKey(action, id) {
      const entry = find(id);
      if (!entry) return;
      if (action === "list.delete") ask(entry, context);
      if (action === "list.correct") correct(entry, context);
    },
    async confirm(id) {
      const entry = find(id);
      if (!entry) return;
      await forget(entry, knowledge);
      knowledge = await open();
      const left = await toItems(knowledge);
      context.change((view) => changePicker(view, NAME, (dialog) => replaceItems(dialog, left)));
      note(
        context,
        `Forgotten: ${toSingleLine(entry.content, 60)}. The model still knows it in this session until /reload.`,
      );
    },
  };
}

async function toItems({ library, root, entries }: OpenKnowledge): Promise<PickerItem[]> {
  const { formatEntryAge } = await import("../../commands/knowledge.ts");
  const time = now();
  const findChangedFile = library.createStaleCheck(root);
  return library.rankWithScores(entries, time).map(({ entry }) => {
    const changed = findChangedFile(entry);
    const facts = [
      entry.type,
      entry.confidence.toFixed(2),
      formatEntryAge(entry.timestamp, time),
      ...(changed === undefined ? [] : [`possibly stale: ${changed} has changed`]),
    ];
    return {
      id: entry.id,
      label: toSingleLine(entry.content, MAX_CONTENT_COLUMNS),
      detail: facts.join(" · "),
      searchText: `${entry.id} ${entry.tags?.join(" ") ?? ""}`,
    };
  });
}

function ask({ content }: KnowledgeEntry, { change }: CommandContext): void {
  const question = `Forget “${toSingleLine(content, 80)}” and the entries it replaced?`;
  change((view) => changePicker(view, NAME, (dialog) => ({ ...dialog, question })));
}

async function forget(entry: KnowledgeEntry, knowledge: OpenKnowledge): Promise<void> {
  const { listReplaced } = await import("../../commands/knowledge.ts");
  const { takeAway } = await import("../../commands/knowledge.ts");
  await takeAway(listReplaced(entry, knowledge.entries), knowledge);
}

/** Only the model's tool replaces knowledge, so the model is asked to; the user types the correction. */
function correct({ id, content }: KnowledgeEntry, { change, setPrompt }: CommandContext): void {
  change((view) => closePicker(view, NAME));
  setPrompt(
    `This knowledge entry is wrong or outdated: “${content}”\n` +
      `Replace it, with add_knowledge and supersedes "${id}", what is right: `,
  );
}
