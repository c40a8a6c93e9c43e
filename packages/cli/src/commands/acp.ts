import { startInput } from "../acp/initialize.ts";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { toJsonLine } from "../text/format.ts";

/** @throws UsageError for arguments. */
export async function runAcp(rest: readonly string[], io: CliIo): Promise<number> {
  if (rest[0] !== undefined) throw new UsageError(`acp takes no arguments: ${rest[0]}`);
  const input = await startInput(io.stdin.stream());
  if (input.answer) io.stdout.write(toJsonLine(input.answer.message));
  await io.stdout.flush();
  const { serveAcp } = await import("../acp/server.ts");
  return serveAcp(io, input);
}
