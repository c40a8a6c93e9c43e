import type { Environment } from "@diligent/core/run";
import { installEditorKeys } from "./editor-keys.ts";
import { type Keybindings, loadKeybindings } from "./keybindings-file.ts";
import type { Keymap } from "./keymap.ts";

/** The keys that hold now. `keymap` stays the same object, whatever its keys are. */
export class ReloadableKeys {
  readonly keymap: Keymap = {
    matches: (key, action) => this.current.keymap.matches(key, action),
    keysOf: (action) => this.current.keymap.keysOf(action),
    nameOf: (action) => this.current.keymap.nameOf(action),
  };

  constructor(
    private current: Keybindings,
    private readonly environment: Environment,
  ) {}

  get editorKeys(): Keybindings["editorKeys"] {
    return this.current.editorKeys;
  }

  /** What the user should know about the file of keys, a line each. */
  get warnings(): readonly string[] {
    return [...this.current.problems, ...this.current.warnings];
  }

  /** Reads the user's file anew; its keys hold at once, also in the text editor. Returns its warnings. */
  async reload(): Promise<readonly string[]> {
    this.current = await loadKeybindings(this.environment);
    installEditorKeys(this.current.editorKeys);
    return this.warnings;
  }
}
