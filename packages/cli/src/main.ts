import { EXIT_FAILURE } from "./errors.ts";
import { writeLine } from "./io/io.ts";
import { createProcessIo } from "./io/process-io.ts";
import { runCli } from "./run-cli.ts";

/** Runs the program in this process and ends the process. */
export async function main(): Promise<void> {
  const io = createProcessIo();
  const failUnexpectedly = (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeLine(io.stderr, `diligent: unexpected error: ${text}`);
    void io.leave(EXIT_FAILURE);
  };
  process.on("uncaughtException", failUnexpectedly);
  process.on("unhandledRejection", failUnexpectedly);
  await io.leave(await runCli(process.argv.slice(2), io));
}
