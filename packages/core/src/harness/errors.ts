/**
 * The command line, the configuration or the environment is not usable: nothing was sent. The message is one line for
 * the user that names what is wrong and what to do.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** What a program that ends with it returns. */
  readonly exitCode = 2;
}

/** The model's provider has no key. */
export class MissingKeyError extends UsageError {
  constructor(
    message: string,
    /** No provider is set up at all: probably a first start. */
    readonly isFirstStart: boolean,
  ) {
    super(message);
  }
}

/**
 * Does work whose failure is the user's to fix: an error of that kind becomes a `UsageError` with the same message.
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

/** What was thrown, as the text that a person is shown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
