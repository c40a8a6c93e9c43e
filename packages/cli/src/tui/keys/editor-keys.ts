import {
  KeybindingsManager,
  setKeybindings,
  TUI_KEYBINDINGS,
} from "@earendil-works/pi-tui/dist/keybindings.js";
import type { KeyId } from "@earendil-works/pi-tui/dist/keys.js";

type PiActionId = keyof typeof TUI_KEYBINDINGS;

/** What keys can do within the text editor, by the ids of pi-tui; what it calls copying is left to the application. */
export type EditorActionId = Exclude<
  Extract<PiActionId, `tui.editor.${string}` | `tui.input.${string}`>,
  "tui.input.copy"
>;

/** Keys by action, where they are others than the default ones; an empty list takes an action's keys away. */
export type EditorBindings = Partial<Record<EditorActionId, readonly KeyId[]>>;

/** An action of the editor: its default keys, and what it does in words for people. */
export interface EditorAction {
  id: EditorActionId;
  keys: readonly KeyId[];
  label: string;
}

// Beyond pi-tui's own: terminals with the Kitty protocol send Alt+Enter as a key of its own.
const OWN_DEFAULTS: EditorBindings = { "tui.input.newLine": ["shift+enter", "ctrl+j", "alt+enter"] };

/** All actions of the editor with their default keys. */
export const EDITOR_ACTIONS: readonly EditorAction[] = Object.entries(TUI_KEYBINDINGS).flatMap(
  ([id, { defaultKeys, description }]) => {
    if (!isEditorAction(id)) return [];
    const keys: readonly KeyId[] = typeof defaultKeys === "string" ? [defaultKeys] : defaultKeys;
    return [{ id, keys: OWN_DEFAULTS[id] ?? keys, label: description }];
  },
);

/** True for an id of pi-tui's that keys can be bound to here. */
export function isEditorAction(id: string): id is EditorActionId {
  return /^tui\.(editor|input)\./.test(id) && id !== "tui.input.copy" && Object.hasOwn(TUI_KEYBINDINGS, id);
}

/** Makes these the keys of every editor of pi-tui in this process, in place of all that were set before. */
export function installEditorKeys(bindings: EditorBindings = {}): void {
  const keys = Object.entries({ ...OWN_DEFAULTS, ...bindings }).map(
    ([id, names]) => [id, [...names]] as const,
  );
  // Ctrl+C is the application's, and what it is bound to instead reaches the editor like any other key.
  setKeybindings(
    new KeybindingsManager(TUI_KEYBINDINGS, { ...Object.fromEntries(keys), "tui.input.copy": [] }),
  );
}
