import type { MoveControl } from "@diligent/core/harness";
import type { CutOffPlan } from "../../undo/describe.ts";
import { createChoice } from "../pickers/picker.ts";
import { formatCount } from "../text.ts";
import type { CommandContext, SlashCommand } from "./types.ts";

const CUT_OFF = "cut-off";
const CUT_OFF_YES = `${CUT_OFF} yes`;

/** `/undo`: restores files; the conversation stays. `cut-off` is for a killed turn; it asks first. */
export const UNDO: SlashCommand = {
  name: "undo",
  argumentHint: `[${CUT_OFF}]`,
  description: "Undo the file changes of the last prompt",
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
        throw new Error(`/undo takes no argument except ${CUT_OFF}, not ${wanted}.`);
    }
  },
};

/** Also for `/redo`. @param isCutOff true: undoes an interrupted turn. */
async function moveFiles(move: "undo" | "redo", context: CommandContext, isCutOff = false): Promise<void> {
  const [opened, { moveFiles }] = await Promise.all([context.session(), import("../../undo/move-files.ts")]);
  await context.moveFiles(move, async (control) => {
    context.print((await moveFiles(move, opened, { ...control, isCutOff })).join("\n"));
  });
}

/** The changes are a guess, so the user must see the files before any is changed. */
async function askForCutOff(context: CommandContext): Promise<void> {
  const [opened, { describeMoved }, { planCutOff }] = await Promise.all([
    context.session(),
    import("../../undo/move-files.ts"),
    import("../../undo/describe.ts"),
  ]);
  const found: { plan?: CutOffPlan } = {};
  const look = async (control: MoveControl) => {
    const plan = await planCutOff((options) => opened.checkpoints.undo(options), control);
    found.plan = plan;
    if (plan.next !== "continue") context.print(describeMoved("undo", plan.planned, opened).join("\n"));
  };
  await context.moveFiles("undo", look, { isDryRun: true });
  const { plan } = found;
  if (plan?.next === "continue") return moveFiles("undo", context, true);
  if (plan?.next === "ask") askAbout(plan.planned?.restored.length ?? 0, context);
}

function askAbout(paths: number, context: CommandContext): void {
  if (context.isPlain) {
    context.print(`/undo ${CUT_OFF_YES} undoes it.`);
    return;
  }
  context.open(
    createChoice("undo", "Undo what the interrupted turn may have changed?", [
      // The safe choice is first, so that an accidental Enter changes nothing.
      { label: "Keep everything as is", run: () => {} },
      {
        label: "Undo it",
        detail: `${formatCount(paths, "path")} as listed above; /redo restores them`,
        run: () => moveFiles("undo", context, true),
      },
    ]),
  );
}

/** `/redo`: one step forward after `/undo`, until a turn changes files again. */
export const REDO: SlashCommand = {
  name: "redo",
  description: "Redo what /undo undid",
  run: (_, context) => moveFiles("redo", context),
};
