import type { UserSettings } from "@diligent/core/interactive";
import type { KeyId } from "@earendil-works/pi-tui/dist/keys.js";
import { allActions } from "./find-conflicts.ts";
import { keyNames, readKeyName, writesText } from "./key-name.ts";

/** What a file of key bindings says. */
export interface ReadBindings {
  /** Keys by action, each in the form that the terminal library gives it. */
  bindings: ReadonlyMap<string, readonly KeyId[]>;
  /** What does not count and why, with its place; the default keys hold in its stead. */
  problems: readonly string[];
}

// For editors, as in every other JSON file.
const SCHEMA_MEMBER = "$schema";
const EXAMPLE = 'a key such as "ctrl+g", or a list of keys; [] takes its keys away';

/** The known name that a mistyped one was most likely meant to be. */
type FindNearest = (name: string, candidates: Iterable<string>) => string | undefined;

/** Checks a file of the user's: actions by their ids, each with a key or a list of keys. */
export function readBindings(settings: UserSettings, nearest: FindNearest): ReadBindings {
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
  /** Undefined where not a single one counts, though some were given. */
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
  if (typeof name !== "string") return { problem: `expected is ${EXAMPLE}` };
  const key = readKeyName(name);
  if (key === undefined) return { problem: unknownKey(name, nearest) };
  if (writesText(key) && !/^(?:approval|list)\./.test(id))
    return { problem: `${name} writes text there; add ctrl or alt` };
  if (writesText(key) && id.startsWith("list."))
    return { problem: `${name} filters the list there; add ctrl or alt` };
  return { key };
}

function unknownAction(near: string | undefined): string {
  return near === undefined
    ? "there is no such action; /keys lists them"
    : `there is no such action; did you mean "${near}"?`;
}

function unknownKey(name: string, nearest: FindNearest): string {
  if (name.trim().endsWith("+")) return `${JSON.stringify(name)} ends in a plus, which cannot be bound`;
  const last = name.slice(name.lastIndexOf("+") + 1).trim();
  const near = nearest(last, keyNames());
  const hint = near === undefined || near === last ? "" : `; did you mean "${near}"?`;
  return `${JSON.stringify(name)} is no key${hint}`;
}
