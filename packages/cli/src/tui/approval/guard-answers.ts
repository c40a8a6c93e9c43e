import { typedText } from "../edit-line.ts";
import type { KeyContext, KeyOutcome, KeyPress } from "../effects.ts";
import type { ApprovalDialog, View } from "../view.ts";

/**
 * For so long, in milliseconds, after a question has come up or a key was pressed that was not meant for it, keys are not
 * taken for an answer: whoever is writing needs a moment to see it.
 */
export const GUARD_MS = 400;

// A key that is held down comes anew every 30 ms or so; nobody presses one twice in that time.
const HELD_MS = 80;

/** A key, and what it is pressed in. */
export interface Pressed {
  key: KeyPress;
  context: KeyContext;
}

/** True for a key that writes something, or sends what is written. */
export function isWriting(key: KeyPress): boolean {
  return key.name === "enter" || typedText(key) !== undefined;
}

/** A key that came too soon to be an answer. One that is pressed again was meant; two different letters are a text. */
export function guard(view: View, dialog: ApprovalDialog, { key, context }: Pressed): KeyOutcome {
  const { ignored } = dialog;
  const isAgain = ignored?.key === key.name;
  const typed = typedText(key) === undefined ? [] : [key.data];
  if (typed.length > 0 && ignored && ignored.typed.length > 0 && !isAgain) {
    const before = dialog.confirms === undefined ? [] : [dialog.confirms.key];
    const question = dialog.confirms?.question ?? dialog;
    return writeOn(view, question, [...before, ...ignored.typed, ...typed]);
  }
  const isPressedAgain = isAgain && context.now - ignored.at > HELD_MS;
  const guardedUntil = isPressedAgain ? dialog.guardedUntil : context.now + GUARD_MS;
  return {
    view: {
      ...view,
      hint: "Only just asked: press the key again",
      dialog: {
        ...dialog,
        guardedUntil,
        ignored: { key: key.name, at: context.now, typed: isAgain ? ignored.typed : typed },
      },
    },
    effects: [],
  };
}

/** What is written goes into the prompt, and so does what follows until the dialog is asked for. */
export function writeOn(view: View, dialog: ApprovalDialog, keys: readonly string[]): KeyOutcome {
  return {
    view: { ...view, dialog: { ...dialog, isUnfocused: true, hasDraft: true, ignored: undefined } },
    effects: keys.map((data) => ({ type: "edit", data })),
  };
}

/** From now on keys are for the question; the one that says so may have been meant for the prompt. */
export function focusDialog(view: View, dialog: ApprovalDialog, { now }: KeyContext): KeyOutcome {
  return {
    view: { ...view, dialog: { ...dialog, isUnfocused: false, guardedUntil: now + GUARD_MS } },
    effects: [],
  };
}
