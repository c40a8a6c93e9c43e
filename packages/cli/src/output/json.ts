import type { CliIo } from "../cli-io.ts";
import { writeLine } from "../write-line.ts";
import { toJsonLine } from "./json-line.ts";
import { toResultFields } from "./result-fields.ts";
import type { Notice, RunOutput } from "./run-output.ts";

/** One object on stdout when the run is over; warnings on stderr. */
export function createJsonOutput({ stdout, stderr }: Pick<CliIo, "stdout" | "stderr">): RunOutput {
  const warn = ({ level, message }: Notice) => {
    if (level !== "info") writeLine(stderr, `${level}: ${message}`);
  };
  return {
    begin() {},
    notice: warn,
    event(event) {
      if (event.type === "notice") warn(event);
    },
    finish: (result) => stdout.write(toJsonLine(toResultFields(result))),
  };
}
