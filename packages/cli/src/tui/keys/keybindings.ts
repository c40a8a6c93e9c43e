import { readUserSettings, type UserSettings } from "@diligent/core/interactive";
import type { Environment } from "@diligent/core/run";
import type { KeyId } from "@earendil-works/pi-tui/dist/keys.js";
import {
  type ActionId,
  allActions,
  createKeymap,
  type EditorBindings,
  findConflicts,
  installEditorKeys,
  isAction,
  isEditorAction,
  type Keymap,
  keyNames,
  readKeyName,
  writesText,
} from "./keymap.ts";

/** In the user's configuration directory. */
const KEYBINDINGS_FILE = "keybindings.json";

/** The current key bindings, and messages about their file. */
interface Keybindings {
  keymap: Keymap;
  /** For the text editor; see `installEditorKeys`. */
  editorKeys: EditorBindings;
  /** Invalid bindings, a line each, with file, line and column; the default keys apply instead. */
  problems: readonly string[];
  /** Valid bindings that may surprise, such as one key for two actions. */
  warnings: readonly string[];
}

/** Reads the user's `keybindings.json` (comments are allowed). Never throws. */
export async function loadKeybindings(environment: Environment): Promise<Keybindings> {
  const reading = await readUserSettings(environment, KEYBINDINGS_FILE);
  if (reading.kind === "none") return toKeybindings(new Map());
  if (reading.kind === "broken") return { ...toKeybindings(new Map()), problems: [reading.problem] };
  const { nearestName } = await import("@diligent/core/light");
  const { bindings, problems } = readBindings(reading.settings, nearestName);
  const conflicts = findConflicts(bindings).map(({ key, actions: [first, second] }) => {
    const changed = bindings.has(first) ? first : second;
    return reading.settings.formatProblem(changed, `${key} is bound to both ${first} and ${second}`);
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

/** How terminals without the Kitty protocol, which are most of them, send a key. */
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
    ? [...warnings, formatProblem("tui.input.submit", "no key is left to send a prompt")]
    : warnings;
}

/** The content of a key bindings file. */
interface ReadBindings {
  /** Keys by action, each in the terminal library's form. */
  bindings: ReadonlyMap<string, readonly KeyId[]>;
  /** Invalid bindings with reason and position; the default keys apply instead. */
  problems: readonly string[];
}

// For editors, as in every other JSON file.
const SCHEMA_MEMBER = "$schema";
const EXAMPLE = 'a key such as "ctrl+g", or a list of keys; [] removes its keys';

/** The known name that a mistyped one most likely stands for. */
type FindNearest = (name: string, candidates: Iterable<string>) => string | undefined;

/** Validates the user's file: actions by their ids, each with a key or a list of keys. */
function readBindings(settings: UserSettings, nearest: FindNearest): ReadBindings {
  const bindings = new Map<string, readonly KeyId[]>();
  const problems: string[] = [];
  const actions = allActions().map(({ id }) => id);
  for (const [id, value] of settings.values) {
    if (id === SCHEMA_MEMBER) continue;
    const reading = actions.includes(id)
      ? readKeys(id, value, nearest)
      : { keys: undefined, problems: [{ message: unknownAction(nearest(id, actions)) }] };
    problems.push(
      ...reading.problems.map(({ message, element }) => settings.formatProblem(id, message, element)),
    );
    if (reading.keys !== undefined) bindings.set(id, reading.keys);
  }
  return { bindings, problems };
}

interface KeysReading {
  /** Undefined if all given keys are invalid. */
  keys: readonly KeyId[] | undefined;
  problems: readonly { message: string; element?: number }[];
}

function readKeys(id: string, value: unknown, nearest: FindNearest): KeysReading {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const read = names.map((name, index) => ({
    ...readKey(id, name, nearest),
    ...(Array.isArray(value) && { element: index }),
  }));
  const keys = read.flatMap(({ key }) => (key === undefined ? [] : [key]));
  const problems = read.flatMap(({ problem, element }) =>
    problem === undefined ? [] : [{ message: problem, ...(element !== undefined && { element }) }],
  );
  return { keys: keys.length === 0 && problems.length > 0 ? undefined : [...new Set(keys)], problems };
}

function readKey(id: string, name: unknown, nearest: FindNearest): { key?: KeyId; problem?: string } {
  if (typeof name !== "string") return { problem: `expected ${EXAMPLE}` };
  const key = readKeyName(name);
  if (key === undefined) return { problem: unknownKey(name, nearest) };
  if (writesText(key) && !/^(?:approval|list)\./.test(id))
    return { problem: `${name} types text there; add ctrl or alt` };
  if (writesText(key) && id.startsWith("list."))
    return { problem: `${name} filters the list there; add ctrl or alt` };
  return { key };
}

function unknownAction(near: string | undefined): string {
  return near === undefined ? "unknown action; /keys lists them" : `unknown action; did you mean "${near}"?`;
}

function unknownKey(name: string, nearest: FindNearest): string {
  if (name.trim().endsWith("+")) return `${JSON.stringify(name)} ends in a plus, which cannot be bound`;
  const last = name.slice(name.lastIndexOf("+") + 1).trim();
  const near = nearest(last, keyNames());
  const hint = near === undefined || near === last ? "" : `; did you mean "${near}"?`;
  return `${JSON.stringify(name)} is not a key${hint}`;
}

/** The current keys. `keymap` stays the same object when its keys change. */
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

  /** Messages about the key bindings file, a line each. */
  get warnings(): readonly string[] {
    return [...this.current.problems, ...this.current.warnings];
  }

  /** Reloads the user's file; its keys apply at once, also in the text editor. Returns its warnings. */
  async reload(): Promise<readonly string[]> {
    this.current = await loadKeybindings(this.environment);
    installEditorKeys(this.current.editorKeys);
    return this.warnings;
  }
}
