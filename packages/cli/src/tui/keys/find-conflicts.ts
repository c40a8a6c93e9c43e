import { ACTIONS } from "./actions.ts";
import { EDITOR_ACTIONS } from "./editor-keys.ts";
import { isAction } from "./keymap.ts";

/** Two actions that one key would mean at the same time. */
export interface KeyConflict {
  key: string;
  /** At least one of them with keys that the user has set. */
  actions: readonly [string, string];
}

type Place = "prompt" | "approval" | "list";

// An open approval is also scrolled, and left like everything else.
const ALSO_IN_APPROVALS = /^list\.(?:up|down|page)|^app\.clear$/;

/** @param changed the keys that the user has set, by action. */
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

/** Everything that can have a key: ours first, which is also looked at first when a key is pressed. */
export function allActions(): { id: string; keys: readonly string[]; label: string }[] {
  return [...Object.entries(ACTIONS).map(([id, action]) => ({ id, ...action })), ...EDITOR_ACTIONS];
}

function placesOf(id: string): Place[] {
  if (id === "app.suspend") return ["prompt", "approval", "list"];
  const also: Place[] = ALSO_IN_APPROVALS.test(id) ? ["approval"] : [];
  if (id.startsWith("approval.")) return ["approval"];
  return [isAction(id) && id.startsWith("list.") ? "list" : "prompt", ...also];
}
