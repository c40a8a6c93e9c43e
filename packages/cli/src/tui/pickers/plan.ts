import { hasPlan } from "@diligent/core/harness";
import { messageText, now, type SessionEntry } from "@diligent/core/run";
import { APPROVAL_MODE_MEANINGS, chooseApprovalMode } from "../../approval/permissions.ts";
import type { ApprovalMode } from "../../arguments/command.ts";
import type { CommandContext } from "../commands/types.ts";
import { createChoice } from "./picker.ts";

// A key pressed before this was meant for the prompt that the list has replaced.
const GUARD_MS = 400;
const PROMPT = "Implement the plan.";

/**
 * Offers to carry out the plan that the last answer ends with: nothing without a plan, and while the user is typing.
 * @param path the conversation.
 */
export async function offerPlan(path: readonly SessionEntry[], context: CommandContext): Promise<void> {
  const last = path.findLast((entry) => entry.type === "message");
  const answer = last?.message.role === "assistant" ? messageText(last.message) : "";
  if (!hasPlan(answer) || context.prompt() !== "") return;
  open();

  function open(): void {
    const openedAt = now();
    const guarded = (run: () => Promise<void> | void) => () => (now() - openedAt < GUARD_MS ? open() : run());
    const implementIn = (mode: ApprovalMode) => ({
      label: `Implement in ${mode}`,
      detail: APPROVAL_MODE_MEANINGS[mode],
      run: guarded(() => implement(mode, context)),
    });
    const keepPlanning = {
      label: "Keep planning",
      detail: "type what should change",
      run: () => context.change((view) => ({ ...view, hint: "Type what the plan should change." })),
    };
    const choices = [implementIn("accept-edits"), implementIn("ask"), keepPlanning];
    context.open(createChoice("plan", "Implement this plan?", choices));
  }
}

async function implement(mode: ApprovalMode, context: CommandContext): Promise<void> {
  await chooseApprovalMode(mode, context);
  context.send(PROMPT);
}
