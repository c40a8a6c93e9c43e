import type { KeyContext, KeyOutcome } from "../effects.ts";
import type { ApprovalDialog, View } from "../view.ts";
import { scrollTo } from "./content-rows.ts";
import { GUARD_MS, type Pressed } from "./guard-answers.ts";

const TITLES = {
  session: "? Allow this from now on, without a question, until you leave diligent:",
  project: "? Allow this from now on, without a question, in this and later sessions of this project:",
} as const;

/** An "always" is asked for once more, with exactly what would be allowed: one letter of a text is not enough for it. */
export function confirmAlways(
  view: View,
  dialog: ApprovalDialog,
  { scope, pressed: { key, context } }: { scope: "session" | "project"; pressed: Pressed },
): KeyOutcome {
  const asked: ApprovalDialog = {
    type: "approval",
    content: [{ look: "title", text: TITLES[scope] }, ...dialog.stored],
    hasAlways: false,
    stored: [],
    confirms: { scope, question: dialog, key: key.data },
    hasDraft: dialog.hasDraft,
    scroll: 0,
    wasEndSeen: false,
    isEditable: false,
    guardedUntil: context.now + GUARD_MS,
  };
  return { view: { ...view, dialog: scrollTo(asked, 0, context) }, effects: [] };
}

/** Back to the question. A key that was meant for something else is no answer to that either. */
export function leaveConfirmation(
  view: View,
  { confirms, ...dialog }: ApprovalDialog,
  { now }: KeyContext,
): KeyOutcome {
  const question = confirms?.question ?? dialog;
  return { view: { ...view, dialog: { ...question, guardedUntil: now + GUARD_MS } }, effects: [] };
}
