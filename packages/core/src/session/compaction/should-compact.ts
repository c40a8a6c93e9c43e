/** True when a request of so many tokens leaves less than `reserveTokens` of the window for its answer. */
export function shouldCompact(
  estimatedTokens: number,
  contextWindow: number,
  reserveTokens: number,
): boolean {
  return estimatedTokens > contextWindow - reserveTokens;
}
