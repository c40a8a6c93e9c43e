import type { PersonAnswer } from "@diligent/core/harness";
import {
  applyText,
  editLine,
  type KeyContext,
  type KeyOutcome,
  type KeyPress,
  typedText,
} from "../effects.ts";
import type { ActionId } from "../keys/keymap.ts";
import type { ApprovalDialog, View } from "../view.ts";
import { type AnswerAction, pageRows, readAnswerKey, scrollKeys, scrollTo } from "./dialog.ts";

const REJECTED = "The user denied this. Do not work around it.";

// Actions that only stop or scroll need no guard if their key types nothing.
const UNGUARDED: ReadonlySet<AnswerAction | undefined> = new Set<AnswerAction>([
  "app.clear",
  "approval.reject",
  "list.up",
  "list.down",
  "list.pageUp",
  "list.pageDown",
]);

/**
 * Handles a key while an approval is pending: scrolls, answers, or types a message or another command. Pure.
 */
export function applyApprovalKey(view: View, asked: ApprovalDialog, pressed: Pressed): KeyOutcome {
  const { key, context } = pressed;
  // The screen's size may have changed what is visible.
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
  if (dialog.isTried) return applyOrDrop({ ...view, dialog }, dialog, pressed);
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

/** A user who is typing continues, until a key that types nothing addresses the question. */
function applyUnfocused(view: View, dialog: ApprovalDialog, { action, pressed }: Meant): KeyOutcome {
  const { key, context } = pressed;
  if (isWriting(key)) return writeOn(view, dialog, [key.data]);
  if (action === "approval.reject" || action === "app.clear") return rejectAndStop(view);
  const isMeant = action === "approval.focus" || scrollStep(action, 1) !== undefined;
  return isMeant ? focusDialog(view, dialog, context) : writeOn(view, dialog, [key.data]);
}

/** Only the confirming key confirms here; every other key returns to the question. */
function applyConfirmation(view: View, dialog: ApprovalDialog, { action, pressed }: Meant): KeyOutcome {
  const { confirms } = dialog;
  const stored = confirms?.question.stored ?? [];
  if (confirms && action === "approval.focus" && stored.length > 1) {
    const { question, ...confirmed } = confirms;
    const choice = (confirms.choice + 1) % stored.length;
    return confirmAlways(view, question, { ...confirmed, choice, context: pressed.context });
  }
  if (!confirms || action !== "approval.once") return leaveConfirmation(view, dialog, pressed.context);
  if (!dialog.wasEndSeen) return hintAtEnd({ ...view, dialog }, pressed);
  const reach = stored[confirms.choice]?.reach ?? "exact";
  return answer(view, {
    response: "always",
    scope: confirms.scope,
    ...(reach !== "exact" && { reach }),
  });
}

/** What was tried is applied by its own key, whatever that key means in other questions, and dropped by denying. */
function applyOrDrop(view: View, { wasEndSeen }: ApprovalDialog, pressed: Pressed): KeyOutcome {
  const { key, context } = pressed;
  if (context.keymap.matches(key.name, "approval.reject"))
    return answer(view, { response: "reject", message: "The user dropped the changes." });
  if (!context.keymap.matches(key.name, "approval.apply")) return { view, effects: [] };
  return wasEndSeen ? answer(view, { response: "once" }) : hintAtEnd(view, pressed);
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
  const wantsTrial = dialog.mayTry === true && action === "approval.try";
  if (action !== "approval.once" && scope === undefined && !wantsEdit && !wantsTrial)
    return { view, effects: [] };
  if (!dialog.wasEndSeen) return hintAtEnd(view, pressed);
  if (scope !== undefined) {
    const { key, context } = pressed;
    return confirmAlways(view, dialog, { scope, key: key.data, choice: 0, context });
  }
  if (wantsEdit)
    return { view: { ...view, dialog: { ...dialog, isEditing: true } }, effects: [{ type: "editCommand" }] };
  return answer(view, { response: "once", ...(wantsTrial && { tries: true }) });
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

/** The field has its own keys; the edited command is put to the user again. */
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
    return answer(view, { response: "reject", message: `The user denied this: ${text}` });
  }
  const message = editLine(dialog.message, key);
  return message === undefined ? { view, effects: [] } : write(message);
}

/** The turn is over: prompts queued for the next one return to the editor. */
function rejectAndStop(view: View): KeyOutcome {
  const { view: after, effects } = answer(view, { response: "reject", message: REJECTED, endTurn: true });
  const takeBack = { type: "takeBack", which: "all" } as const;
  return { view: after, effects: view.queued.length === 0 ? effects : [takeBack, ...effects] };
}

function answer(view: View, given: PersonAnswer): KeyOutcome {
  return { view: { ...view, dialog: undefined }, effects: [{ type: "answer", answer: given }] };
}

const TITLES = {
  session: "? Always allow this, without asking, until you quit diligent:",
  project: "? Always allow this, without asking, in this and later sessions of this project:",
} as const;

interface Confirmed {
  scope: "session" | "project";
  /** The key of the answer. */
  key: string;
  /** The index of the choice to be shown. */
  choice: number;
  context: KeyContext;
}

/**
 * "Always" needs a second confirmation that shows exactly what would be allowed: one letter is not enough for
 * it.
 */
function confirmAlways(
  view: View,
  dialog: ApprovalDialog,
  { scope, key, choice, context }: Confirmed,
): KeyOutcome {
  const asked: ApprovalDialog = {
    type: "approval",
    content: [{ look: "title", text: TITLES[scope] }, ...(dialog.stored[choice]?.lines ?? [])],
    hasAlways: false,
    stored: [],
    confirms: { scope, question: dialog, key, choice },
    hasDraft: dialog.hasDraft,
    scroll: 0,
    wasEndSeen: false,
    isEditable: false,
    guardedUntil: context.now + GUARD_MS,
  };
  return { view: { ...view, dialog: scrollTo(asked, 0, context) }, effects: [] };
}

/** Back to the question. A key meant for something else is not an answer there either. */
function leaveConfirmation(
  view: View,
  { confirms, ...dialog }: ApprovalDialog,
  { now }: KeyContext,
): KeyOutcome {
  const question = confirms?.question ?? dialog;
  return { view: { ...view, dialog: { ...question, guardedUntil: now + GUARD_MS } }, effects: [] };
}

/**
 * How long, in milliseconds, keys are not accepted as an answer after a question has appeared or a key was
 * pressed that was meant for something else: a user who is typing needs a moment to notice it.
 */
export const GUARD_MS = 400;

// A held key repeats every 30 ms or so; nobody presses one twice in that time.
const HELD_MS = 80;

/** A key, and the dialog in which it is pressed. */
interface Pressed {
  key: KeyPress;
  context: KeyContext;
}

/** True for a key that types text, or submits it. */
export function isWriting(key: KeyPress): boolean {
  return key.name === "enter" || typedText(key) !== undefined;
}

/**
 * A key that came too early to be an answer. Pressing it again confirms it; two different letters are typing.
 */
function guard(view: View, dialog: ApprovalDialog, { key, context }: Pressed): KeyOutcome {
  const { ignored } = dialog;
  const isRepeated = ignored?.key === key.name;
  const typed = typedText(key) === undefined ? [] : [key.data];
  if (typed.length > 0 && ignored && ignored.typed.length > 0 && !isRepeated) {
    const before = dialog.confirms === undefined ? [] : [dialog.confirms.key];
    const question = dialog.confirms?.question ?? dialog;
    return writeOn(view, question, [...before, ...ignored.typed, ...typed]);
  }
  const isPressedAgain = isRepeated && context.now - ignored.at > HELD_MS;
  const guardedUntil = isPressedAgain ? dialog.guardedUntil : context.now + GUARD_MS;
  return {
    view: {
      ...view,
      hint: "The question just appeared: press the key again",
      dialog: {
        ...dialog,
        guardedUntil,
        ignored: { key: key.name, at: context.now, typed: isRepeated ? ignored.typed : typed },
      },
    },
    effects: [],
  };
}

/**
 * Typed text goes into the prompt, and so does everything that follows until the user switches to the dialog.
 */
function writeOn(view: View, dialog: ApprovalDialog, keys: readonly string[]): KeyOutcome {
  return {
    view: { ...view, dialog: { ...dialog, isUnfocused: true, hasDraft: true, ignored: undefined } },
    effects: keys.map((data) => ({ type: "edit", data })),
  };
}

/**
 * From now on, keys are for the question; the key that switched may itself have been meant for the prompt.
 */
function focusDialog(view: View, dialog: ApprovalDialog, { now }: KeyContext): KeyOutcome {
  return {
    view: { ...view, dialog: { ...dialog, isUnfocused: false, guardedUntil: now + GUARD_MS } },
    effects: [],
  };
}

/**
 * The view after several keys arrived at once while an approval is pending: they count as a paste, whose rest
 * may still arrive. Pure.
 */
export function leavePasteOut(view: View, text: string, now: number): View {
  const { dialog } = view;
  if (dialog?.type !== "approval") return view;
  const guardedUntil = Math.max(dialog.guardedUntil, now + GUARD_MS);
  return applyText({ ...view, dialog: { ...dialog, guardedUntil } }, { ...dialog, guardedUntil }, text);
}
