import type { ActionId } from "../keys/actions.ts";
import type { Keymap } from "../keys/keymap.ts";
import { nameForPeople } from "../keys/name-for-people.ts";

/** What a key can mean to a question. Of several that share a key the first holds, so that a no goes before a yes. */
const IN_ORDER = [
  "list.up",
  "list.down",
  "list.pageUp",
  "list.pageDown",
  "approval.pageDown",
  "approval.reject",
  "app.clear",
  "approval.rejectWithMessage",
  "approval.focus",
  "approval.once",
  "approval.session",
  "approval.project",
  "approval.edit",
] as const satisfies readonly ActionId[];

/** An action that can be meant while a question is open. */
export type AnswerAction = (typeof IN_ORDER)[number];

/** What a key means while a question is open; undefined when nothing. */
export function readAnswerKey(key: string, keymap: Keymap): AnswerAction | undefined {
  return IN_ORDER.find((action) => keymap.matches(key, action));
}

/** The key that does it while a question is open, as people write it; undefined where none does. */
export function nameAnswerKey(action: AnswerAction, keymap: Keymap): string | undefined {
  const key = keymap.keysOf(action).find((each) => readAnswerKey(each, keymap) === action);
  return key === undefined ? undefined : nameForPeople(key);
}
