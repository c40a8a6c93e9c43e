import { parseArgs } from "node:util";
import { UsageError } from "../src/errors.ts";

/** A script that takes only options, each with a value. */
export interface BuildScript<Name extends string> {
  name: string;
  /** The forms of its command line, and notes, a line each. */
  usage: readonly string[];
  /** The default of an option. */
  options: Readonly<Record<Name, string>>;
  /** @throws UsageError for an invalid value. */
  main(values: Readonly<Record<Name, string>>): Promise<void>;
}

/**
 * Runs a script: `--help` and `-h` print its usage, and an invalid call prints two lines.
 * @param argv without the program.
 * @returns the exit code: 2 for such a call. Errors of the work itself are thrown.
 */
export async function runBuildScript<Name extends string>(
  { name, usage, options, main }: BuildScript<Name>,
  argv: readonly string[],
): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    console.log(usage.join("\n"));
    return 0;
  }
  try {
    await main(readValues(options, argv));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${name}: ${error.message}\n${usage[0] ?? ""}`);
    return error.exitCode;
  }
}

function readValues<Name extends string>(
  defaults: Readonly<Record<Name, string>>,
  argv: readonly string[],
): Record<Name, string> {
  const options = Object.fromEntries(
    Object.keys(defaults).map((name) => [name, { type: "string" } as const]),
  );
  const result: Record<Name, string> = { ...defaults };
  for (const [name, value] of Object.entries(parseValues(argv, options))) {
    if (isNameOf(defaults, name) && typeof value === "string") result[name] = value;
  }
  return result;
}

function parseValues(argv: readonly string[], options: Record<string, { type: "string" }>) {
  try {
    return parseArgs({ args: [...argv], options }).values;
  } catch (error) {
    // Its message names the word; the advice after that is for programs that take words.
    throw new UsageError(error instanceof Error ? (error.message.split(". ", 1)[0] ?? "") : String(error));
  }
}

function isNameOf<Name extends string>(record: Readonly<Record<Name, string>>, name: string): name is Name {
  return Object.hasOwn(record, name);
}
