/** What was thrown, as the text that a person is told. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
