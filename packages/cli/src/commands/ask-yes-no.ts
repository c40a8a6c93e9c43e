import type { CliIo } from "../cli-io.ts";
import { readLines } from "../line-prompt/read-lines.ts";
import { sanitizeTerminalText } from "../terminal-text.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Puts a question to the person at the terminal; only `y` and `yes` are a yes.
 * @throws UsageError where nobody can answer.
 */
export async function askYesNo(question: string, io: CliIo): Promise<boolean> {
  if (!io.stdin.isTerminal) throw new UsageError(`${question} Nobody can answer here: --yes says so`);
  io.stderr.write(`${sanitizeTerminalText(question)} [y/N] `);
  for await (const line of readLines(io.stdin.stream())) return /^\s*y(es)?\s*$/i.test(line);
  return false;
}
