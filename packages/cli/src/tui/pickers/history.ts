import { readRecentInputs } from "@diligent/core/interactive";
import type { CommandContext } from "../commands/types.ts";
import { historyItems } from "../editor/history-items.ts";
import { createPickerDialog, type Picker } from "./picker.ts";

const MAX_PROMPTS = 2_000;

/** Earlier prompts, those of this project first; undefined when there is none. */
export async function historyPicker(context: CommandContext): Promise<Picker | undefined> {
  const { loaded } = await context.session();
  const entries = readRecentInputs(context.environment, { root: loaded.projectRoot, limit: MAX_PROMPTS });
  if (entries.length === 0) return undefined;
  return {
    dialog: createPickerDialog({ name: "history", title: "Earlier prompts", items: historyItems(entries) }),
    choose(id) {
      const entry = entries[Number(id)];
      if (entry) context.setPrompt(entry.text);
    },
  };
}
