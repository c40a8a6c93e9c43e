import { ACTIONS } from "./actions.ts";
import { EDITOR_ACTIONS, type EditorBindings } from "./editor-keys.ts";
import { isAction, type Keymap } from "./keymap.ts";

/** A row in the list of keys. */
export interface DescribedKeys {
  /** The id that `keybindings.json` uses. */
  action: string;
  /** None where the action has no key. */
  keys: readonly string[];
  label: string;
}

/** Every action with the keys that it has now, for a list of keys. */
export function describeKeys(keymap: Keymap, editorKeys: EditorBindings = {}): DescribedKeys[] {
  const own = Object.entries(ACTIONS).map(([action, { label }]) => ({
    action,
    keys: isAction(action) ? keymap.keysOf(action) : [],
    label,
  }));
  const editing = EDITOR_ACTIONS.map(({ id, keys, label }) => ({
    action: id,
    keys: editorKeys[id] ?? keys,
    label,
  }));
  return [...own, ...editing];
}
