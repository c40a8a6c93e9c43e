import { applyText } from "../apply-text.ts";
import type { View } from "../view.ts";
import { GUARD_MS } from "./guard-answers.ts";

/**
 * The view after several keys came at once while something waits for consent: a text like a paste, of which the rest may
 * still be on its way. Pure.
 */
export function leavePasteOut(view: View, text: string, now: number): View {
  const { dialog } = view;
  if (dialog?.type !== "approval") return view;
  const guardedUntil = Math.max(dialog.guardedUntil, now + GUARD_MS);
  return applyText({ ...view, dialog: { ...dialog, guardedUntil } }, { ...dialog, guardedUntil }, text);
}
