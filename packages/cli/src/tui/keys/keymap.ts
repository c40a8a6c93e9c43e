import {
  getKeybindings,
  KeybindingsManager,
  setKeybindings,
  TUI_KEYBINDINGS,
} from "@earendil-works/pi-tui/dist/keybindings.js";
import { isKeyRelease, type KeyId, matchesKey, parseKey } from "@earendil-works/pi-tui/dist/keys.js";

/** The actions of keys outside the text editor, by the ids that `keybindings.json` uses. */
export const ACTIONS = {
  "app.interrupt": {
    keys: ["escape"],
    label: "Stop what is running; twice on an empty prompt: the session tree",
  },
  "app.clear": { keys: ["ctrl+c"], label: "Clear the prompt; twice: quit" },
  "app.exit": { keys: ["ctrl+d"], label: "Quit, on an empty prompt" },
  "app.suspend": { keys: ["ctrl+z"], label: "Suspend; fg resumes" },
  "app.background": {
    keys: ["ctrl+b"],
    label: "Move the running command to the background",
  },
  "app.approvalMode": { keys: ["shift+tab"], label: "Next approval mode" },
  "app.expandResult": { keys: ["ctrl+o"], label: "Show thinking and results in full, in the pager" },
  "app.externalEditor": { keys: ["ctrl+g"], label: "Write the prompt in $VISUAL or $EDITOR" },
  "app.pasteImage": { keys: ["ctrl+v"], label: "Attach the image in the clipboard" },
  "app.historySearch": { keys: ["ctrl+r"], label: "Search earlier prompts" },
  "app.takeBack": { keys: ["alt+up"], label: "Edit the last queued message" },
  "app.redraw": { keys: ["ctrl+l"], label: "Redraw the screen" },
  "app.model": { keys: ["alt+p"], label: "Choose a model" },
  "app.thinking": { keys: ["ctrl+t"], label: "Choose the thinking level" },
  "approval.focus": { keys: ["tab"], label: "Answer a question that appeared while you were typing" },
  "approval.once": { keys: ["y"], label: "Allow once" },
  "approval.session": { keys: ["a"], label: "Allow always, in this session" },
  "approval.project": { keys: ["p"], label: "Allow always, in this project" },
  "approval.reject": { keys: ["n", "escape"], label: "Deny and end the turn" },
  "approval.rejectWithMessage": { keys: ["m"], label: "Deny with a message to the model" },
  "approval.try": { keys: ["t"], label: "Try the command in a view of the project first" },
  "approval.apply": { keys: ["a"], label: "Apply what a command has changed in a view" },
  "approval.edit": { keys: ["e"], label: "Edit the command" },
  "approval.pageDown": { keys: ["space"], label: "Page down in the question" },
  "list.up": { keys: ["up", "ctrl+p"], label: "Up" },
  "list.down": { keys: ["down", "ctrl+n"], label: "Down" },
  "list.pageUp": { keys: ["pageUp"], label: "Page up" },
  "list.pageDown": { keys: ["pageDown"], label: "Page down" },
  "list.first": { keys: ["home"], label: "First item" },
  "list.last": { keys: ["end"], label: "Last item" },
  "list.choose": { keys: ["enter"], label: "Choose" },
  "list.close": { keys: ["escape", "ctrl+c"], label: "Close" },
  "list.delete": { keys: ["ctrl+d"], label: "Delete a session, forget knowledge, revoke a permission" },
  "list.rename": { keys: ["ctrl+r"], label: "Rename a session" },
  "list.sort": { keys: ["ctrl+s"], label: "Change the sort order of sessions" },
  "list.branches": { keys: ["ctrl+b"], label: "Open a session and show its branches" },
  "list.correct": { keys: ["ctrl+e"], label: "Correct a knowledge entry" },
  "list.label": { keys: ["ctrl+l"], label: "Label an entry in the session tree" },
} as const satisfies Record<string, ActionDefinition>;

interface ActionDefinition {
  keys: readonly string[];
  label: string;
}

/** An id of `ACTIONS`. */
export type ActionId = keyof typeof ACTIONS;

/** Maps keys to actions. Key names are those of the terminal library, such as `ctrl+c` or `shift+tab`. */
export interface Keymap {
  /** True if `key` is bound to `action`. */
  matches(key: string, action: ActionId): boolean;
  keysOf(action: ActionId): readonly string[];
  /** The first key of an action as shown to people, such as `Ctrl+C`; undefined if it has none. */
  nameOf(action: ActionId): string | undefined;
}

/** @param bindings the user's changes, by action; an empty list removes an action's keys. */
export function createKeymap(bindings: Partial<Record<ActionId, readonly string[]>> = {}): Keymap {
  const keysOf = (action: ActionId): readonly string[] => bindings[action] ?? ACTIONS[action].keys;
  return {
    keysOf,
    nameOf: (action) => {
      const key = keysOf(action)[0];
      return key === undefined ? undefined : nameForPeople(key);
    },
    // Some terminals report a capital letter as `A`, others as `shift+a`.
    matches: (key, action) => {
      const keys = keysOf(action);
      return keys.includes(key) || keys.includes(readKeyName(key) ?? key);
    },
  };
}

/** True for an id of `ACTIONS`; the text editor's ids are not included. */
export function isAction(id: string): id is ActionId {
  return Object.hasOwn(ACTIONS, id);
}

/** Two actions that share a key in the same situation. */
interface KeyConflict {
  key: string;
  /** At least one of them has keys set by the user. */
  actions: readonly [string, string];
}

type KeyScope = "prompt" | "approval" | "apply" | "list";

// An open approval can also be scrolled, and left like everything else.
const ALSO_IN_APPROVALS = /^list\.(?:up|down|page)|^app\.(?:clear|redraw)$/;

/** @param changed the keys set by the user, by action. */
export function findConflicts(changed: ReadonlyMap<string, readonly string[]>): KeyConflict[] {
  const bound = allActions().flatMap(({ id, keys }) =>
    (changed.get(id) ?? keys).map((key) => ({ id, key, places: placesOf(id) })),
  );
  return bound.flatMap((one, index) =>
    bound
      .slice(index + 1)
      .filter((other) => other.key === one.key && other.id !== one.id)
      .filter((other) => changed.has(one.id) || changed.has(other.id))
      .filter((other) => other.places.some((place) => one.places.includes(place)))
      .map(({ id }): KeyConflict => ({ key: one.key, actions: [one.id, id] })),
  );
}

/** Everything that can have a key: our actions first, which also take precedence. */
export function allActions(): { id: string; keys: readonly string[]; label: string }[] {
  return [...Object.entries(ACTIONS).map(([id, action]) => ({ id, ...action })), ...EDITOR_ACTIONS];
}

function placesOf(id: string): KeyScope[] {
  if (id === "app.suspend") return ["prompt", "approval", "list"];
  const also: KeyScope[] = ALSO_IN_APPROVALS.test(id) ? ["approval"] : [];
  // Asked by a question of its own, in which the keys of other answers mean nothing.
  if (id === "approval.apply") return ["apply"];
  if (id.startsWith("approval.")) return ["approval"];
  return [isAction(id) && id.startsWith("list.") ? "list" : "prompt", ...also];
}

type PiActionId = keyof typeof TUI_KEYBINDINGS;

/** The actions of keys within the text editor, by pi-tui's ids; copying is left to the application. */
type EditorActionId = Exclude<
  Extract<PiActionId, `tui.editor.${string}` | `tui.input.${string}`>,
  "tui.input.copy"
>;

/** Keys by action, if they differ from the defaults; an empty list removes an action's keys. */
export type EditorBindings = Partial<Record<EditorActionId, readonly KeyId[]>>;

/** An action of the editor: its default keys, and a description. */
interface EditorAction {
  id: EditorActionId;
  keys: readonly KeyId[];
  label: string;
}

// In addition to pi-tui's own: terminals with the Kitty protocol send Alt+Enter as a separate key.
const OWN_DEFAULTS: EditorBindings = {
  "tui.input.newLine": ["shift+enter", "ctrl+j", "alt+enter"],
  "tui.editor.historyPrevious": ["ctrl+p"],
  "tui.editor.historyNext": ["ctrl+n"],
};

/** All actions of the editor with their default keys. */
export const EDITOR_ACTIONS: readonly EditorAction[] = Object.entries(TUI_KEYBINDINGS).flatMap(
  ([id, { defaultKeys, description }]) => {
    if (!isEditorAction(id)) return [];
    const keys: readonly KeyId[] = typeof defaultKeys === "string" ? [defaultKeys] : defaultKeys;
    return [{ id, keys: OWN_DEFAULTS[id] ?? keys, label: description }];
  },
);

/** True for an id of pi-tui that keys can be bound to here. */
export function isEditorAction(id: string): id is EditorActionId {
  return /^tui\.(editor|input)\./.test(id) && id !== "tui.input.copy" && Object.hasOwn(TUI_KEYBINDINGS, id);
}

/** True for a key that submits the text of the editor. */
export function isSubmitKey(data: string): boolean {
  return getKeybindings().matches(data, "tui.input.submit");
}

/** Sets the keys of every pi-tui editor in this process, replacing all earlier ones. */
export function installEditorKeys(bindings: EditorBindings = {}): void {
  const keys = Object.entries({ ...OWN_DEFAULTS, ...bindings }).map(
    ([id, names]) => [id, [...names]] as const,
  );
  // The application handles Ctrl+C itself; keys bound to its action reach the editor like any other key.
  setKeybindings(
    new KeybindingsManager(TUI_KEYBINDINGS, { ...Object.fromEntries(keys), "tui.input.copy": [] }),
  );
}

const MODIFIERS: ReadonlyMap<string, string> = new Map([
  ["shift", "shift"],
  ["ctrl", "ctrl"],
  ["control", "ctrl"],
  ["alt", "alt"],
  ["option", "alt"],
  ["meta", "alt"],
  ["super", "super"],
  ["cmd", "super"],
]);

// The order that pi-tui uses in key names.
const ORDER = ["shift", "ctrl", "alt", "super"];

const NAMED_KEYS: readonly string[] = [
  ...["escape", "enter", "tab", "space", "backspace", "delete", "insert", "clear", "home", "end"],
  ...["pageUp", "pageDown", "up", "down", "left", "right"],
  ...["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"],
];

const KEYS_BY_NAME = new Map([
  ...NAMED_KEYS.map((name) => [name.toLowerCase(), name] as const),
  ["esc", "escape"] as const,
  ["return", "enter"] as const,
  ["pgup", "pageUp"] as const,
  ["pgdn", "pageDown"] as const,
  ["del", "delete"] as const,
]);

// pi-tui cannot name the plus key: plus separates the parts of a name.
const CHARACTER = /^[a-z0-9`\-=[\]\\;',./!@#$%^&*()_|~{}:<>?]$/;

/**
 * A key's name in pi-tui's canonical form: `Control+Shift+P` becomes `shift+ctrl+p`, `esc` becomes `escape`,
 * `A` becomes `shift+a`. Undefined for an invalid name.
 */
export function readKeyName(text: string): KeyId | undefined {
  const parts = text.trim().split("+");
  const last = (parts.pop() ?? "").trim();
  const isCapital = /^[A-Z]$/.test(last) && parts.length === 0;
  const key = KEYS_BY_NAME.get(last.toLowerCase()) ?? last.toLowerCase();
  const given = parts.map((part) => MODIFIERS.get(part.trim().toLowerCase()));
  const modifiers = new Set(isCapital ? [...given, "shift"] : given);
  if (modifiers.has(undefined) || modifiers.size < given.length) return undefined;
  const name = [...ORDER.filter((modifier) => modifiers.has(modifier)), key].join("+");
  return isKeyId(name) ? name : undefined;
}

/** Names of keys, for suggestions. */
export function keyNames(): readonly string[] {
  return NAMED_KEYS;
}

/** True for a key that types a character in a text field. */
export function writesText(key: KeyId): boolean {
  const parts = key.split("+");
  const name = parts.pop() ?? "";
  return parts.every((modifier) => modifier === "shift") && (name === "space" || CHARACTER.test(name));
}

function isKeyId(name: string): name is KeyId {
  const key = name.slice(name.lastIndexOf("+") + 1);
  return CHARACTER.test(key) || NAMED_KEYS.includes(key);
}

const NAMES = keyNames().flatMap((name) => readKeyName(name) ?? []);

/** The name of a key, such as `ctrl+c`; undefined for a key release and for other input, such as a paste. */
export function nameKey(data: string): string | undefined {
  if (isKeyRelease(data)) return undefined;
  const name = parseKey(data);
  if (name !== undefined) return name;
  // pi-tui recognizes the Home and End keys of tmux and screen (`ESC[1~`, `ESC[4~`) but does not name them.
  return data.startsWith("\x1b") ? NAMES.find((each) => matchesKey(data, each)) : data;
}

const SHOWN_NAMES: Readonly<Record<string, string>> = {
  down: "↓",
  escape: "Esc",
  left: "←",
  pageDown: "PgDn",
  pageUp: "PgUp",
  right: "→",
  up: "↑",
};

/**
 * A key as shown to people: `ctrl+r` as `Ctrl+R`, `pageUp` as `PgUp`; a single letter stays lower-case, as it
 * is pressed.
 */
export function nameForPeople(key: string): string {
  if (key.length === 1) return key;
  return (
    key
      // The last part may itself be a plus.
      .split(/\+(?=.)/)
      .map((part) => SHOWN_NAMES[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
      .join("+")
  );
}

/** Key hints, such as `Enter choose · Esc close`. Actions without a key are left out. */
export function keyTexts(keymap: Keymap, uses: readonly (readonly [ActionId, string])[]): string {
  const texts = uses.flatMap(([action, use]) => {
    const key = keymap.nameOf(action);
    return key === undefined ? [] : [`${key} ${use}`];
  });
  return texts.join(" · ");
}

/** The hint how to stop the task that blocks another one. Empty if no key does it. */
export function stopHint(keymap: Keymap): string {
  const key = keymap.nameOf("app.interrupt");
  return key === undefined ? "" : `; ${key} stops it`;
}

/** A row in the list of keys. */
export interface DescribedKeys {
  /** The id that `keybindings.json` uses. */
  action: string;
  /** Empty if the action has no key. */
  keys: readonly string[];
  label: string;
}

/** Every action with its current keys, for a list of keys. */
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
