import { note } from "../note.ts";
import type { SlashCommand } from "./types.ts";

/** `/result`: the call that ended last, without the cuts that the screen makes. */
export const RESULT: SlashCommand = {
  name: "result",
  description: "The last result in full, in $PAGER",
  isAlwaysPossible: true,
  needsScreen: true,
  async run(_, context) {
    const { lastCall } = context.view();
    if (!lastCall) return note(context, "There is no result yet.");
    const { showResult } = await import("../show-result.ts");
    await showResult(lastCall, context);
  },
};
