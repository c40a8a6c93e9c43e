import { startInput } from "../acp/initialize.ts";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { toJsonLine } from "../text/format.ts";

/** @throws UsageError for other arguments than its options. */
export async function runAcp(rest: readonly string[], io: CliIo): Promise<number> {
  if (rest.length > 0) {
    const { limitHostsOf, readSubcommandArguments } = await import("./arguments.ts");
    const { words, lists } = readSubcommandArguments("acp", rest);
    if (words[0] !== undefined) throw new UsageError(`acp takes no arguments: ${words[0]}`);
    await limitHostsOf(lists);
  }
  const input = await startInput(io.stdin.stream());
  if (input.answer) io.stdout.write(toJsonLine(input.answer.message));
  await io.stdout.flush();
  const { serveAcp } = await import("../acp/server.ts");
  return serveAcp(io, input);
}
