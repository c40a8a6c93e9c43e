import { existsSync, renameSync, writeFileSync } from "node:fs";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";

export interface PackedArguments {
  argv: readonly string[];
  /** Absolute; to be found by the program as the descriptor that was named. */
  file?: string;
}

/**
 * Arguments for bubblewrap, in a file where one of them holds a name that is no text: a program is started with strings.
 * Bubblewrap closes the descriptor once it has read it.
 *
 * @param options.directory where the file is made, beyond the reach of commands; absolute.
 * @throws Error without such a directory, and system errors.
 */
export function packArguments(
  argv: readonly string[],
  { directory, descriptor }: { directory: string | undefined; descriptor: number },
): PackedArguments {
  if (argv.every((argument) => argument.isWellFormed())) return { argv };
  if (directory === undefined)
    throw new Error("the project has control files below names that are no valid text, which cannot be held");
  const content = Buffer.concat(argv.flatMap((argument) => [Buffer.from(toSystemPath(argument)), NUL]));
  // Named after what it says: no command changes what another is about to read.
  const file = `${directory}/arguments-${Bun.hash(content).toString(36)}`;
  if (!existsSync(file)) {
    writeFileSync(`${file}.draft`, content, { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  }
  return { argv: ["--args", String(descriptor)], file };
}

const NUL = Buffer.of(0);
