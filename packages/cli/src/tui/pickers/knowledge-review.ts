import type { KnowledgeEntry, ReviewItem } from "@diligent/core/run";
import type { OpenKnowledge } from "../../commands/knowledge.ts";
import type { KnowledgeDecision } from "../../commands/review-knowledge.ts";
import { toSingleLine } from "../../text/terminal-text.ts";
import type { CommandContext } from "../commands/types.ts";
import { note } from "../commands/types.ts";
import { type Choice, createChoice, createPickerDialog, type Picker } from "./picker.ts";

const MAX_ITEMS = 500;
const MAX_COLUMNS = 400;

/** What waits for the user's decision about the project's knowledge; undefined if nothing does. */
export async function knowledgeReviewPicker(context: CommandContext): Promise<Picker | undefined> {
  const { cwd } = await context.session();
  const { openKnowledgeStore } = await import("../../commands/knowledge.ts");
  const knowledge = await openKnowledgeStore(cwd, context);
  const waiting = knowledge.library.listReviewItems(knowledge.entries, knowledge.root);
  if (waiting.length === 0) return undefined;
  const shown = waiting.slice(0, MAX_ITEMS);
  return {
    dialog: createPickerDialog({
      name: "knowledge-review",
      title: `Knowledge to review (${waiting.length})`,
      items: shown.map((item, index) => ({
        id: String(index),
        label: toSingleLine(item.entry.content, MAX_COLUMNS),
        detail: describeReason(item),
        searchText: item.entry.id,
      })),
    }),
    choose(id) {
      const item = shown[Number(id)];
      if (item) context.open(createDecision(item, knowledge, context));
    },
  };
}

function describeReason(item: ReviewItem): string {
  switch (item.kind) {
    case "contradiction":
      return `may contradict: ${toSingleLine(item.other.content, MAX_COLUMNS)}`;
    case "stale":
      return `possibly stale: ${toSingleLine(item.changedFile, MAX_COLUMNS)} has changed`;
    case "new":
      return "new";
  }
}

function createDecision(item: ReviewItem, knowledge: OpenKnowledge, context: CommandContext): Picker {
  const { entry } = item;
  const title = toSingleLine(entry.content, MAX_COLUMNS);
  const show: Choice = {
    label: "Show",
    detail: "all details",
    async run() {
      const { formatKnowledge } = await import("../../commands/knowledge.ts");
      const both = item.kind === "contradiction" ? [entry, item.other] : [entry];
      for (const each of both) context.print(formatKnowledge(each, knowledge, Date.now()));
    },
  };
  const edit = (each: KnowledgeEntry, label: string): Choice => ({
    label,
    detail: toSingleLine(each.content, MAX_COLUMNS),
    run: () => context.setPrompt(`/knowledge edit ${each.id} ${each.content.replace(/\s+/g, " ")}`),
  });
  if (item.kind !== "contradiction")
    return createChoice("knowledge-decision", title, [
      { label: "Keep", detail: "it is right", run: () => settle({ kept: [entry] }, knowledge, context) },
      edit(entry, "Edit"),
      { label: "Drop", detail: "forget it", run: () => settle({ dropped: [entry] }, knowledge, context) },
      show,
    ]);
  const { other } = item;
  const only = (kept: KnowledgeEntry, dropped: KnowledgeEntry): Choice => ({
    label: "Keep only",
    detail: toSingleLine(kept.content, MAX_COLUMNS),
    run: () => settle({ kept: [kept], dropped: [dropped] }, knowledge, context),
  });
  return createChoice("knowledge-decision", "These may contradict each other", [
    only(entry, other),
    only(other, entry),
    {
      label: "Keep both",
      detail: "they are compatible",
      run: () => settle({ kept: [entry, other] }, knowledge, context),
    },
    edit(entry, "Edit"),
    edit(other, "Edit"),
    show,
  ]);
}

/** Saves a decision and shows what is left. */
async function settle(
  decision: KnowledgeDecision,
  knowledge: OpenKnowledge,
  context: CommandContext,
): Promise<void> {
  const { DECIDED_ELSEWHERE, saveDecision } = await import("../../commands/review-knowledge.ts");
  const isSaved = await saveDecision(decision, knowledge);
  const next = await knowledgeReviewPicker(context);
  if (next) context.open(next);
  if (!isSaved) return note(context, DECIDED_ELSEWHERE);
  const { kept = [], dropped = [] } = decision;
  const done =
    dropped.length === 0 ? "Kept." : kept.length === 0 ? "Dropped." : "Kept one, dropped the other.";
  note(
    context,
    `${done} ${next ? "" : "Nothing else waits for a decision. "}The prompt of this session changes at /reload.`,
  );
}
