import { ACTIONS, type ActionId } from "./actions.ts";
import { readKeyName } from "./key-name.ts";

/** Which keys mean which action. Key names are those of the terminal library, such as `ctrl+c` or `shift+tab`. */
export interface Keymap {
  /** True when `key` means `action`. */
  matches(key: string, action: ActionId): boolean;
  keysOf(action: ActionId): readonly string[];
}

/** @param bindings what the user changed, by action; an empty list takes an action's keys away. */
export function createKeymap(bindings: Partial<Record<ActionId, readonly string[]>> = {}): Keymap {
  const keysOf = (action: ActionId): readonly string[] => bindings[action] ?? ACTIONS[action].keys;
  return {
    keysOf,
    // Some terminals call a capital `A`, others `shift+a`.
    matches: (key, action) => {
      const keys = keysOf(action);
      return keys.includes(key) || keys.includes(readKeyName(key) ?? key);
    },
  };
}

export function isAction(id: string): id is ActionId {
  return Object.hasOwn(ACTIONS, id);
}
