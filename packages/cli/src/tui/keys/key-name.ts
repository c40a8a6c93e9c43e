import type { KeyId } from "@earendil-works/pi-tui/dist/keys.js";

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

// As pi-tui orders them in the names it gives to keys.
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

// pi-tui cannot name the plus: it divides the parts of a name.
const CHARACTER = /^[a-z0-9`\-=[\]\\;',./!@#$%^&*()_|~{}:<>?]$/;

/**
 * A key's name in the one form that pi-tui gives it: `Control+Shift+P` is `shift+ctrl+p`, `esc` is `escape`, `A` is
 * `shift+a`. Undefined for what names no key.
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

/** Names of keys, for whoever mistypes one. */
export function keyNames(): readonly string[] {
  return NAMED_KEYS;
}

/** True for a key that writes a character while somebody is writing. */
export function writesText(key: KeyId): boolean {
  const parts = key.split("+");
  const name = parts.pop() ?? "";
  return parts.every((modifier) => modifier === "shift") && (name === "space" || CHARACTER.test(name));
}

function isKeyId(name: string): name is KeyId {
  const key = name.slice(name.lastIndexOf("+") + 1);
  return CHARACTER.test(key) || NAMED_KEYS.includes(key);
}
