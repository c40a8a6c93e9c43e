/** A word as a shell reads it, in quotes only where it needs them. */
export function quoteForShell(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
