import { nearestName } from "@diligent/core/light";
import { note } from "../note.ts";
import { EFFORTS, isEffort } from "../pickers/efforts.ts";
import type { SlashCommand } from "./types.ts";

/** `/thinking`: takes a level of `EFFORTS`, or opens the list of them. @throws Error for any other word. */
export const THINKING: SlashCommand = {
  name: "thinking",
  aliases: ["effort"],
  description: "How hard the model thinks before it answers",
  argumentHint: "[LEVEL]",
  opensList: true,
  async run(argument, context) {
    if (argument === "") {
      const { thinkingPicker } = await import("../pickers/thinking.ts");
      return context.open(await thinkingPicker(context));
    }
    if (!isEffort(argument)) throw new Error(unknownLevel(argument));
    await context.changeModel({ effort: argument });
    note(context, `Thinking is ${argument} from the next request on.`);
  },
  complete: (prefix) => EFFORTS.map(({ level }) => level).filter((level) => level.startsWith(prefix)),
};

function unknownLevel(given: string): string {
  const levels = EFFORTS.map(({ level }) => level);
  const nearest = nearestName(given, levels);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return `There is no thinking level ${given}; there are: ${levels.join(", ")}.${hint}`;
}
