/** True for a number of `--list` (1 to 3 digits) and for what looks like a session id or the beginning of one. */
export function isSessionReference(word: string): boolean {
  return /^[0-9]{1,3}$/.test(word) || /^[0-9]{8,14}(-[0-9a-f]*)?$/.test(word);
}
