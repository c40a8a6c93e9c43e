import { ACTIONS, type ActionId } from "./actions.ts";
import { readKeyName } from "./key-name.ts";
import { nameForPeople } from "./name-for-people.ts";

/** Which keys mean which action. Key names are those of the terminal library, such as `ctrl+c` or `shift+tab`. */
export interface Keymap {
  /** True when `key` means `action`. */
  matches(key: string, action: ActionId): boolean;
  keysOf(action: ActionId): readonly string[];
  /** The first key of an action as people write it, such as `Ctrl+C`; undefined where it has none. */
  nameOf(action: ActionId): string | undefined;
}

/** @param bindings what the user changed, by action; an empty list takes an action's keys away. */
export function createKeymap(bindings: Partial<Record<ActionId, readonly string[]>> = {}): Keymap {
  const keysOf = (action: ActionId): readonly string[] => bindings[action] ?? ACTIONS[action].keys;
  return {
    keysOf,
    nameOf: (action) => {
      const key = keysOf(action)[0];
      return key === undefined ? undefined : nameForPeople(key);
    },
    // Some terminals call a capital `A`, others `shift+a`.
    matches: (key, action) => {
      const keys = keysOf(action);
      return keys.includes(key) || keys.includes(readKeyName(key) ?? key);
    },
  };
}

/** True for an id of `ACTIONS`; those of the text editor are none. */
export function isAction(id: string): id is ActionId {
  return Object.hasOwn(ACTIONS, id);
}
