const DEFAULT_MAX_CHARS = 200;

/** Where requests go, as messages need to know it. */
export interface Endpoint {
  /** Name and port, such as `api.anthropic.com`. */
  host: string;
  apiKey: string;
}

/** The text without the key: a server or a library may repeat it in what it complains about. */
export function hideKey(text: string, { apiKey }: Endpoint): string {
  return apiKey === "" ? text : text.replaceAll(apiKey, "[key]");
}

/**
 * Somebody else's text as part of a one-line message: control characters, escape sequences and characters that turn
 * the writing direction are gone, white space is single, and what is longer than `maxChars` ends in `…`.
 */
export function toOneLine(text: string, maxChars = DEFAULT_MAX_CHARS): string {
  // A body may have megabytes, of which nearly all would be cut off again.
  const line = text
    .slice(0, maxChars * 50)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences begin with one.
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?/g, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
    .toWellFormed()
    .trim();
  const chars = [...line];
  return chars.length > maxChars ? `${chars.slice(0, maxChars).join("")}…` : line;
}
