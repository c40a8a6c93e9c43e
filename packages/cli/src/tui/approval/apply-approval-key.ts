import type { PersonAnswer } from "../../approval.ts";
import { editLine } from "../edit-line.ts";
import type { KeyOutcome } from "../effects.ts";
import type { ActionId } from "../keys/actions.ts";
import type { ApprovalDialog, View } from "../view.ts";
import { type AnswerAction, readAnswerKey } from "./answer-keys.ts";
import { scrollKeys } from "./answer-texts.ts";
import { confirmAlways, leaveConfirmation } from "./confirm-always.ts";
import { pageRows, scrollTo } from "./content-rows.ts";
import { focusDialog, GUARD_MS, guard, isWriting, type Pressed, writeOn } from "./guard-answers.ts";

const REJECTED = "The user said no. Do not try it in another way.";

// What stops, or only looks, needs no guard where its key writes nothing.
const UNGUARDED: ReadonlySet<AnswerAction | undefined> = new Set<AnswerAction>([
  "app.clear",
  "approval.reject",
  "list.up",
  "list.down",
  "list.pageUp",
  "list.pageDown",
]);

/** A key while something waits for consent: scrolls, answers, writes a message or another command. Pure. */
export function applyApprovalKey(view: View, asked: ApprovalDialog, pressed: Pressed): KeyOutcome {
  const { key, context } = pressed;
  // What is on the screen may have changed with its size.
  const dialog = scrollTo(asked, asked.scroll, context);
  const { message } = dialog;
  if (message !== undefined) return writeMessage(view, { ...dialog, message }, pressed);
  if (dialog.isEditing) return editCommand(view, dialog, pressed);
  const action = readAnswerKey(key.name, context.keymap);
  const isUnguarded = !isWriting(key) && UNGUARDED.has(action);
  if (dialog.isUnfocused) return applyUnfocused(view, dialog, { action, pressed });
  if (context.now < dialog.guardedUntil && !isUnguarded) return guard(view, dialog, pressed);
  const step = scrollStep(action, pageRows(dialog, context));
  if (step !== undefined)
    return { view: { ...view, dialog: scrollTo(dialog, dialog.scroll + step, context) }, effects: [] };
  if (action === "app.clear") return rejectAndStop(view);
  if (dialog.confirms) return applyConfirmation(view, dialog, { action, pressed });
  if (action === "approval.reject") return rejectAndStop(view);
  if (action === "approval.rejectWithMessage")
    return { view: { ...view, dialog: { ...dialog, message: "" } }, effects: [] };
  return applyConsent({ ...view, dialog }, dialog, { action, pressed });
}

interface Meant {
  action: AnswerAction | undefined;
  pressed: Pressed;
}

/** Whoever is writing goes on, until a key that writes nothing is for the question. */
function applyUnfocused(view: View, dialog: ApprovalDialog, { action, pressed }: Meant): KeyOutcome {
  const { key, context } = pressed;
  if (isWriting(key)) return writeOn(view, dialog, [key.data]);
  if (action === "approval.reject" || action === "app.clear") return rejectAndStop(view);
  const isMeant = action === "approval.focus" || scrollStep(action, 1) !== undefined;
  return isMeant ? focusDialog(view, dialog, context) : writeOn(view, dialog, [key.data]);
}

/** Nothing but the yes is a yes here, and whatever else is pressed goes back to the question. */
function applyConfirmation(view: View, dialog: ApprovalDialog, { action, pressed }: Meant): KeyOutcome {
  const { confirms } = dialog;
  if (!confirms || action !== "approval.once") return leaveConfirmation(view, dialog, pressed.context);
  if (!dialog.wasEndSeen) return hintAtEnd({ ...view, dialog }, pressed);
  return answer(view, { response: "always", scope: confirms.scope });
}

function scrollStep(action: AnswerAction | undefined, page: number): number | undefined {
  switch (action) {
    case "list.up":
      return -1;
    case "list.down":
      return 1;
    case "list.pageUp":
      return -page;
    case "list.pageDown":
    case "approval.pageDown":
      return page;
    default:
      return undefined;
  }
}

function applyConsent(view: View, dialog: ApprovalDialog, { action, pressed }: Meant): KeyOutcome {
  const scope = scopeOf(dialog, action);
  const wantsEdit = dialog.isEditable && action === "approval.edit";
  if (action !== "approval.once" && scope === undefined && !wantsEdit) return { view, effects: [] };
  if (!dialog.wasEndSeen) return hintAtEnd(view, pressed);
  if (scope !== undefined) return confirmAlways(view, dialog, { scope, pressed });
  if (wantsEdit)
    return { view: { ...view, dialog: { ...dialog, isEditing: true } }, effects: [{ type: "editCommand" }] };
  return answer(view, { response: "once" });
}

function hintAtEnd(view: View, { context }: Pressed): KeyOutcome {
  return { view: { ...view, hint: `Scroll to its end first (${scrollKeys(context.keymap)})` }, effects: [] };
}

function scopeOf(
  { hasAlways }: ApprovalDialog,
  action: AnswerAction | undefined,
): "session" | "project" | undefined {
  if (!hasAlways) return undefined;
  if (action === "approval.session") return "session";
  return action === "approval.project" ? "project" : undefined;
}

/** The field has its own keys; what it sends is put to the user again. */
function editCommand(view: View, dialog: ApprovalDialog, { key, context }: Pressed): KeyOutcome {
  const is = (action: ActionId) => context.keymap.matches(key.name, action);
  if (is("list.close")) {
    const guardedUntil = context.now + GUARD_MS;
    return { view: { ...view, dialog: { ...dialog, isEditing: false, guardedUntil } }, effects: [] };
  }
  if (is("app.externalEditor")) return { view, effects: [{ type: "editCommandExternally" }] };
  return { view, effects: [{ type: "editCommandKey", data: key.data }] };
}

function writeMessage(
  view: View,
  dialog: ApprovalDialog & { message: string },
  { key, context: { keymap } }: Pressed,
): KeyOutcome {
  const write = (message: string | undefined): KeyOutcome => ({
    view: { ...view, dialog: { ...dialog, message } },
    effects: [],
  });
  const is = (action: ActionId) => keymap.matches(key.name, action);
  if (is("list.close") || is("app.clear")) return write(undefined);
  if (is("list.choose")) {
    const text = dialog.message.trim();
    if (text === "") return write(undefined);
    return answer(view, { response: "reject", message: `The user said no: ${text}` });
  }
  const message = editLine(dialog.message, key);
  return message === undefined ? { view, effects: [] } : write(message);
}

/** The turn is over: what waited for the next one goes back into the prompt. */
function rejectAndStop(view: View): KeyOutcome {
  const { view: after, effects } = answer(view, { response: "reject", message: REJECTED, endTurn: true });
  const takeBack = { type: "takeBack", which: "all" } as const;
  return { view: after, effects: view.queued.length === 0 ? effects : [takeBack, ...effects] };
}

function answer(view: View, given: PersonAnswer): KeyOutcome {
  return { view: { ...view, dialog: undefined }, effects: [{ type: "answer", answer: given }] };
}
