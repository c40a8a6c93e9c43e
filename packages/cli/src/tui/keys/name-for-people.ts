const NAMES: Readonly<Record<string, string>> = {
  down: "↓",
  escape: "Esc",
  left: "←",
  pageDown: "PgDn",
  pageUp: "PgUp",
  right: "→",
  up: "↑",
};

/** A key as people write it: `ctrl+r` as `Ctrl+R`, `pageUp` as `PgUp`; a letter alone stays small, as it is pressed. */
export function nameForPeople(key: string): string {
  if (key.length === 1) return key;
  return (
    key
      // The last part may be a plus itself.
      .split(/\+(?=.)/)
      .map((part) => NAMES[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
      .join("+")
  );
}
