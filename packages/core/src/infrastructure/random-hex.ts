/** So many random bytes in hexadecimal digits. `node:crypto` would do as well, but takes 5 ms to load. */
export function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
