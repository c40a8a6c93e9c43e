/**
 * The command line, the configuration or the environment is not usable: nothing was sent. The message is one line for
 * the user that names what is wrong and what to do; the program ends with exit code 2.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly exitCode = 2;
}

/**
 * Does work whose failure is the user's to mend: what it throws of that kind is told on one line.
 * @param kind the errors that are; all of them when left out. A `UsageError` stays what it is.
 */
export async function orUsageError<T>(
  work: () => T | Promise<T>,
  kind: abstract new (...parameters: never[]) => Error = Error,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof kind)) throw error;
    throw new UsageError(error.message);
  }
}
