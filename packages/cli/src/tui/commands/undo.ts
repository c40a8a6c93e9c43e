import { createChoice } from "../pickers/choice.ts";
import { formatCount } from "../text/format-amount.ts";
import type { CommandContext, SlashCommand } from "./types.ts";

const CUT_OFF = "cut-off";
const CUT_OFF_YES = `${CUT_OFF} yes`;

export const UNDO: SlashCommand = {
  name: "undo",
  argumentHint: `[${CUT_OFF}]`,
  description: "Take back what the last prompt changed in files",
  run(argument, context) {
    const wanted = argument.trim().replace(/\s+/g, " ");
    switch (wanted) {
      case "":
        return moveFiles("undo", context);
      case CUT_OFF:
        return askForCutOff(context);
      case CUT_OFF_YES:
        return moveFiles("undo", context, true);
      default:
        throw new Error(`/undo takes nothing or ${CUT_OFF}, not ${wanted}.`);
    }
  },
};

/** Also for `/redo`. @param isCutOff true: what a turn did that was cut off. */
export async function moveFiles(
  move: "undo" | "redo",
  context: CommandContext,
  isCutOff = false,
): Promise<void> {
  const [opened, { moveFiles }] = await Promise.all([context.session(), import("../../undo/move-files.ts")]);
  await context.moveFiles(move, async (control) => {
    context.print((await moveFiles(move, opened, { ...control, isCutOff })).join("\n"));
  });
}

/** What a turn did that was cut off is a guess: nobody's files are changed for that before they have seen which. */
async function askForCutOff(context: CommandContext): Promise<void> {
  const [opened, { planCutOff }] = await Promise.all([context.session(), import("../../undo/move-files.ts")]);
  let paths = 0;
  await context.moveFiles("undo", async (control) => {
    const plan = await planCutOff(opened, control);
    paths = plan.paths;
    context.print(plan.lines.join("\n"));
  });
  if (paths === 0) return;
  if (context.isPlain) return context.print(`/undo ${CUT_OFF_YES} takes that back.`);
  context.open(
    createChoice("undo", "Take back what the turn may have done that was cut off?", [
      // No comes first, so that Enter, pressed for something else, changes nothing.
      { label: "Leave everything as it is", run: () => {} },
      {
        label: "Take it back",
        detail: `${formatCount(paths, "path")} as listed above; /redo brings them back`,
        run: () => moveFiles("undo", context, true),
      },
    ]),
  );
}
