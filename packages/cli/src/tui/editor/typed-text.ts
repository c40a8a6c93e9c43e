import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";

/** What a key writes, harmless or not; nothing for some keys, and undefined for those that do something else. */
export function readTypedText(data: string): string | undefined {
  const decoded = decodePrintableKey(data);
  // The Kitty protocol gives keys without a character, such as F13, numbers of this range, which pi-tui takes for text.
  if (decoded !== undefined) return /^[\ue000-\uf8ff]$/.test(decoded) ? "" : decoded;
  return data >= " " && data !== "\x7f" ? data : undefined;
}
