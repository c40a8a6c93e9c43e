import { isKeyRelease, parseKey } from "@earendil-works/pi-tui/dist/keys.js";

/** What a key is called, such as `ctrl+c`; undefined for a release and for what is no key, such as a paste. */
export function nameKey(data: string): string | undefined {
  if (isKeyRelease(data)) return undefined;
  return parseKey(data) ?? (data.startsWith("\x1b") ? undefined : data);
}
