import type { CliIo } from "../cli-io.ts";
import { describeStop } from "../describe-stop.ts";
import { describeProgress } from "../progress-lines.ts";
import { sanitizeTerminalText } from "../terminal-text.ts";
import { writeFailure, writeLine } from "../write-line.ts";
import type { RunOutput } from "./run-output.ts";

/** The answer on stdout and nothing else; what happens meanwhile, and what went wrong, on stderr. */
export function createTextOutput({ stdout, stderr }: Pick<CliIo, "stdout" | "stderr">): RunOutput {
  return {
    begin() {},
    notice: ({ level, message }) => writeLine(stderr, level === "info" ? message : `${level}: ${message}`),
    event(event) {
      const line = describeProgress(event);
      if (line !== undefined) writeLine(stderr, line);
    },
    finish({ summary }) {
      const answer = sanitizeTerminalText(summary.result);
      if (answer !== "") stdout.write(answer.endsWith("\n") ? answer : `${answer}\n`);
      const failure = describeStop(summary);
      if (failure !== undefined) writeFailure(stderr, failure);
    },
  };
}
