import type { Keymap } from "../keys/keymap.ts";
import { nameForPeople } from "../keys/name-for-people.ts";
import type { ApprovalDialog } from "../view.ts";
import { type AnswerAction, nameAnswerKey } from "./answer-keys.ts";

type AnswerableDialog = Pick<
  ApprovalDialog,
  "hasAlways" | "isEditable" | "wasEndSeen" | "confirms" | "isUnfocused"
>;

/** What may be pressed, on one line; `isShort` where there is little room. */
export function answerTexts(
  { hasAlways, isEditable, wasEndSeen, confirms, isUnfocused }: AnswerableDialog,
  keymap: Keymap,
  { isShort = false } = {},
): string {
  const text = (action: AnswerAction, meaning: string) => {
    const key = nameAnswerKey(action, keymap);
    return key === undefined ? [] : [`${key} ${meaning}`];
  };
  if (isUnfocused) {
    const focus = [nameAnswerKey("approval.focus", keymap), nameAnswerKey("list.down", keymap)];
    const keys = focus.filter((key) => key !== undefined).join(" or ");
    return [
      isShort ? `${keys} answer` : `You were writing: ${keys} to answer this`,
      ...stopText(keymap),
    ].join(" · ");
  }
  if (confirms) {
    const yes = wasEndSeen ? text("approval.once", CONFIRM_TEXTS[confirms.scope]) : [];
    const scroll = wasEndSeen ? [] : [`${scrollKeys(keymap)} to its end`];
    return [...scroll, ...yes, ...text("approval.reject", "back")].join(" · ");
  }
  const no = text("approval.reject", "no");
  const reject = [
    ...(no.length > 0 ? no : text("app.clear", "no")),
    ...text("approval.rejectWithMessage", isShort ? "no, because" : "no, with a message"),
  ];
  if (!wasEndSeen) return [`${scrollKeys(keymap)} to its end`, ...reject].join(" · ");
  const always = [
    ...text("approval.session", isShort ? "session" : "always in this session"),
    ...text("approval.project", isShort ? "project" : "always in this project"),
  ];
  return [
    ...text("approval.once", "yes"),
    ...(hasAlways ? always : []),
    ...reject,
    ...(isEditable ? text("approval.edit", "edit") : []),
  ].join(" · ");
}

const CONFIRM_TEXTS = {
  session: "yes, always in this session",
  project: "yes, always in this project",
} as const;

/** The key that says no and writes nothing, for somebody who is writing. */
function stopText(keymap: Keymap): string[] {
  const key = [...keymap.keysOf("approval.reject"), ...keymap.keysOf("app.clear")].find(
    (each) => [...each].length > 1 && each !== "space" && each !== "enter",
  );
  return key === undefined ? [] : [`${nameForPeople(key)} no`];
}

/** What scrolls on in a question, such as `↓ or Space`. */
export function scrollKeys(keymap: Keymap): string {
  const names = (["list.down", "approval.pageDown", "list.pageDown"] as const)
    .map((action) => nameAnswerKey(action, keymap))
    .filter((name) => name !== undefined);
  return names.length === 0 ? "scroll" : names.slice(0, 2).join(" or ");
}
