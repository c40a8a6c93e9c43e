import { formatHelpPage, type HelpPage } from "./help-page.ts";

/** For what could not be done at all; 1 is for what was found. */
const EXIT_NOT_DONE = 2;

/** A command of this package. */
export interface BenchScript {
  name: string;
  /** Printed for `--help` and `-h`, in place of everything else. */
  help: HelpPage;
  /** @param argv without the program. @returns the exit code. */
  main(argv: readonly string[]): Promise<number>;
}

/** Runs a command, whose exit code is that of this process; an error is told in a line, with code 2. */
export async function runBenchScript({ name, help, main }: BenchScript): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv.includes("--help") || argv.includes("-h")) {
    console.log(formatHelpPage(help));
    return;
  }
  try {
    process.exitCode = await main(argv);
  } catch (error) {
    console.error(`${name}: ${describeError(error)}`);
    process.exitCode = EXIT_NOT_DONE;
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} ${describeError(error.cause)}`;
}
