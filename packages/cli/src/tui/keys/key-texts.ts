import type { ActionId } from "./actions.ts";
import type { Keymap } from "./keymap.ts";

/** What keys do, such as `Enter choose · Esc close`. An action that has no key is left out. */
export function keyTexts(keymap: Keymap, uses: readonly (readonly [ActionId, string])[]): string {
  const texts = uses.flatMap(([action, use]) => {
    const key = keymap.nameOf(action);
    return key === undefined ? [] : [`${key} ${use}`];
  });
  return texts.join(" · ");
}

/** Behind what has to wait for the end of something: how that is stopped. Empty where no key does it. */
export function stopHint(keymap: Keymap): string {
  const key = keymap.nameOf("app.interrupt");
  return key === undefined ? "" : `; ${key} stops it`;
}
