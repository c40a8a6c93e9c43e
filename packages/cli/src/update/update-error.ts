/**
 * Nobody could be asked for the newest version, or what was answered is none. The message is a few words for a log, without
 * the address: that may hold what is nobody's business.
 */
export class UpdateError extends Error {
  override name = "UpdateError";
}

/** For an answer that nobody waits for any more. */
export function wasLeft(): UpdateError {
  return new UpdateError("the program was left meanwhile");
}
