const PLAIN_PATH = /^[^\s"'`,;()<>[\]{}]+$/;

/** How a path is named in a prompt: `@a.ts`, in quotes where it could not be told where it ends. */
export function toMention(path: string): string {
  return `@${quotePath(path)}`;
}

/** A path as it stands behind `@`: in quotation marks where its end could not be told from the text otherwise. */
export function quotePath(path: string): string {
  return PLAIN_PATH.test(path) && !/[.:!?]$/.test(path) ? path : `"${path}"`;
}
