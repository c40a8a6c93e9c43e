import type { CommandContext, SlashCommand } from "./types.ts";

const CUT_OFF = "cut-off";

export const UNDO: SlashCommand = {
  name: "undo",
  argumentHint: "[cut-off]",
  description: "Take back what the last prompt changed in files",
  run: (argument, context) => {
    const wanted = argument.trim();
    if (wanted !== "" && wanted !== CUT_OFF)
      throw new Error(`/undo takes nothing or ${CUT_OFF}, not ${wanted}.`);
    return moveFiles("undo", context, wanted === CUT_OFF);
  },
};

/** Also for `/redo`. @param isCutOff true: what a turn did that was cut off. */
export async function moveFiles(
  move: "undo" | "redo",
  context: CommandContext,
  isCutOff = false,
): Promise<void> {
  const [opened, { moveFiles }] = await Promise.all([context.session(), import("../../undo/move-files.ts")]);
  context.print((await moveFiles(move, opened, { isCutOff })).join("\n"));
}
