/** For steps of which each is to be done even where another fails: the terminal may be gone. */
export function ignoreErrors(step: () => unknown): void {
  try {
    step();
  } catch {
    // There is nobody left to tell, or nothing left to restore.
  }
}
