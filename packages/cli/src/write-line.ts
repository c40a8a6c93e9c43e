import type { CliOutput } from "./cli-io.ts";
import { sanitizeTerminalText } from "./terminal-text.ts";

/** Writes one text and a line feed, made safe for a terminal: the way every message to a person goes. */
export function writeLine(output: CliOutput, text: string): void {
  output.write(`${sanitizeTerminalText(text)}\n`);
}

/** Says on stderr what stops the program, on one line that begins with its name. */
export function writeFailure(output: CliOutput, text: string): void {
  writeLine(output, `diligent: ${text.trim().replace(/\s*\n\s*/g, " ")}`);
}
