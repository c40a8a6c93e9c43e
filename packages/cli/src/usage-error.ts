/**
 * The command line, the configuration or the environment is not usable: nothing was sent. The message is one line for
 * the user that names what is wrong and what to do; the program ends with exit code 2.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly exitCode = 2;
}
