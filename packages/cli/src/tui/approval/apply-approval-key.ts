import type { PersonAnswer } from "../../approval.ts";
import type { KeyContext, KeyOutcome, KeyPress } from "../apply-key.ts";
import type { ActionId } from "../keys/actions.ts";
import type { ApprovalDialog, View } from "../view.ts";
import { scrollTo, shownSubjectRows } from "./subject-rows.ts";

const REJECTED = "The user said no. Do not try it in another way.";

/** A key while something waits for consent: scrolls, answers, or writes the message of a rejection. Pure. */
export function applyApprovalKey(
  view: View,
  dialog: ApprovalDialog,
  { key, context }: { key: KeyPress; context: KeyContext },
): KeyOutcome {
  if (dialog.message !== undefined)
    return writeMessage(view, { ...dialog, message: dialog.message }, { key, context });
  const is = (action: ActionId) => context.keymap.matches(key.name, action);
  const scroll = (rows: number): KeyOutcome => ({
    view: { ...view, dialog: scrollTo(dialog, dialog.scroll + rows, context) },
    effects: [],
  });
  const page = shownSubjectRows(dialog, context.rows);
  if (is("list.up")) return scroll(-1);
  if (is("list.down")) return scroll(1);
  if (is("list.pageUp")) return scroll(-page);
  if (is("list.pageDown") || key.name === "space") return scroll(page);
  if (is("approval.reject") || is("app.clear"))
    return answer(view, { response: "reject", message: REJECTED, endTurn: true });
  if (is("approval.rejectWithMessage"))
    return { view: { ...view, dialog: { ...dialog, message: "" } }, effects: [] };
  return applyConsent(view, dialog, is);
}

function applyConsent(view: View, dialog: ApprovalDialog, is: (action: ActionId) => boolean): KeyOutcome {
  const consent = consentOf(dialog, is);
  const wantsEdit = dialog.isEditable && is("approval.edit");
  if (!consent && !wantsEdit) return { view, effects: [] };
  if (!dialog.wasEndSeen)
    return { view: { ...view, hint: "Scroll to its end first (↓ or Space)" }, effects: [] };
  if (wantsEdit) return { view: { ...view, dialog: undefined }, effects: [{ type: "editCommand" }] };
  return consent ? answer(view, consent) : { view, effects: [] };
}

function consentOf({ always }: ApprovalDialog, is: (action: ActionId) => boolean): PersonAnswer | undefined {
  if (is("approval.once")) return { response: "once" };
  if (always.length === 0) return undefined;
  if (is("approval.session")) return { response: "always", scope: "session" };
  if (is("approval.project")) return { response: "always", scope: "project" };
  return undefined;
}

function writeMessage(
  view: View,
  dialog: ApprovalDialog & { message: string },
  { key: { name, data }, context }: { key: KeyPress; context: KeyContext },
): KeyOutcome {
  const write = (message: string | undefined): KeyOutcome => ({
    view: { ...view, dialog: { ...dialog, message } },
    effects: [],
  });
  if (name === "escape" || context.keymap.matches(name, "app.clear")) return write(undefined);
  if (name === "backspace") return write([...dialog.message].slice(0, -1).join(""));
  if (name === "enter") {
    const text = dialog.message.trim();
    if (text === "") return write(undefined);
    return answer(view, { response: "reject", message: `The user said no: ${text}` });
  }
  return /^[^\p{Cc}]+$/u.test(data) ? write(dialog.message + data) : { view, effects: [] };
}

function answer(view: View, given: PersonAnswer): KeyOutcome {
  return { view: { ...view, dialog: undefined }, effects: [{ type: "answer", answer: given }] };
}
