/** For what could not be done at all; 1 is for what was found. */
const EXIT_NOT_DONE = 2;

/** Runs the `main` of a command of this package, whose exit code it gives; an error is told in a line, with code 2. */
export async function runScript(
  name: string,
  main: (argv: readonly string[]) => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(`${name}: ${describeError(error)}`);
    process.exitCode = EXIT_NOT_DONE;
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} ${describeError(error.cause)}`;
}
