import type { CommandContext } from "../commands/types.ts";
import { EFFORTS } from "./efforts.ts";
import { createPickerDialog, type Picker } from "./picker.ts";

/** How hard the model thinks. */
export async function thinkingPicker(context: CommandContext): Promise<Picker> {
  const { effort, model } = await context.session();
  const items = EFFORTS.map(({ level, meaning }) => ({
    id: level,
    label: level === effort ? `${level} (now)` : level,
    detail: meaning,
  }));
  const hint = model.thinking === "none" ? `: ${model.id} cannot be asked to` : "";
  return {
    dialog: createPickerDialog({
      name: "thinking",
      title: `Thinking${hint}`,
      items,
      selected: Math.max(
        0,
        EFFORTS.findIndex(({ level }) => level === effort),
      ),
    }),
    choose: (id) => context.runCommand("thinking", id),
  };
}
