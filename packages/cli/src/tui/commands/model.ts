import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/model`: takes the id of a model, or opens the list of them; what was chosen counts from the next request on. */
export const MODEL: SlashCommand = {
  name: "model",
  aliases: ["models"],
  description: "Let another model answer, same conversation",
  argumentHint: "[ID]",
  opensList: true,
  async run(argument, context) {
    if (argument === "") {
      const { modelsPicker } = await import("../pickers/models.ts");
      return context.open(await modelsPicker(context));
    }
    await context.changeModel({ modelId: argument });
    note(context, `From here on ${context.view().status.model} answers.`);
  },
  async complete(prefix, context) {
    const { listChoosable } = await import("../pickers/models.ts");
    const { models } = await listChoosable(context);
    return models.map(({ id }) => id).filter((id) => id.startsWith(prefix));
  },
};
