import { readUserSettings, type UserSettings } from "@diligent/core/interactive";
import type { Environment } from "@diligent/core/run";
import type { KeyId } from "@earendil-works/pi-tui/dist/keys.js";
import type { ActionId } from "./actions.ts";
import { type EditorBindings, isEditorAction } from "./editor-keys.ts";
import { findConflicts } from "./find-conflicts.ts";
import { createKeymap, isAction, type Keymap } from "./keymap.ts";
import { readBindings } from "./read-bindings.ts";

/** In the user's configuration directory. */
const KEYBINDINGS_FILE = "keybindings.json";

/** The keys that hold, and what the user should know about their file. */
export interface Keybindings {
  keymap: Keymap;
  /** For the text editor; see `installEditorKeys`. */
  editorKeys: EditorBindings;
  /** What does not count, a line each, with file, line and column; the default keys hold in its stead. */
  problems: readonly string[];
  /** What counts and may still surprise, such as one key for two actions. */
  warnings: readonly string[];
}

/** Reads `keybindings.json` (comments are allowed) of the user whose environment this is. Never throws. */
export async function loadKeybindings(environment: Environment): Promise<Keybindings> {
  const reading = await readUserSettings(environment, KEYBINDINGS_FILE);
  if (reading.kind === "none") return toKeybindings(new Map());
  if (reading.kind === "broken") return { ...toKeybindings(new Map()), problems: [reading.problem] };
  const { nearestName } = await import("@diligent/core/light");
  const { bindings, problems } = readBindings(reading.settings, nearestName);
  const conflicts = findConflicts(bindings).map(({ key, actions: [first, second] }) => {
    const changed = bindings.has(first) ? first : second;
    return reading.settings.formatProblem(changed, `${key} stands for ${first} and for ${second}`);
  });
  return {
    ...toKeybindings(bindings),
    problems,
    warnings: [...reading.settings.warnings, ...conflicts, ...warnAboutKeys(bindings, reading.settings)],
  };
}

type Bindings = ReadonlyMap<string, readonly KeyId[]>;

function toKeybindings(bindings: Bindings): Keybindings {
  const own: Partial<Record<ActionId, readonly string[]>> = {};
  const editorKeys: EditorBindings = {};
  for (const [id, keys] of bindings) {
    if (isAction(id)) own[id] = keys;
    else if (isEditorAction(id)) editorKeys[id] = keys;
  }
  return { keymap: createKeymap(own), editorKeys, problems: [], warnings: [] };
}

/** What is sent as another key by terminals without the Kitty protocol, which are most of them. */
const SENT_AS: ReadonlyMap<string, string> = new Map([
  ["ctrl+i", "tab"],
  ["ctrl+m", "enter"],
  ["ctrl+[", "escape"],
]);

function warnAboutKeys(bindings: Bindings, { formatProblem }: UserSettings): string[] {
  const warnings = [...bindings].flatMap(([id, keys]) =>
    keys.flatMap((key) => {
      const sentAs = SENT_AS.get(key);
      return sentAs === undefined ? [] : [formatProblem(id, `most terminals send ${key} as ${sentAs}`)];
    }),
  );
  const isMute = bindings.get("tui.input.submit")?.length === 0;
  return isMute
    ? [...warnings, formatProblem("tui.input.submit", "no key sends a prompt any more")]
    : warnings;
}
