import type { AgentEvent } from "@diligent/core/run";
import type { CliIo } from "../cli-io.ts";
import { writeLine } from "../write-line.ts";
import { toJsonLine } from "./json-line.ts";
import { toResultFields } from "./result-fields.ts";
import type { RunOutput } from "./run-output.ts";

/** One JSON object a line: the session, every event as it happens, and last the result. */
export function createStreamJsonOutput({ stdout, stderr }: Pick<CliIo, "stdout" | "stderr">): RunOutput {
  const writeObject = (value: object) => stdout.write(toJsonLine(value));
  return {
    begin: ({ sessionId, model, cwd, version }) =>
      writeObject({ type: "session", sessionId, model, cwd, version }),
    notice({ level, code, message }) {
      if (level !== "info") writeLine(stderr, `${level}: ${message}`);
      writeObject({ type: "notice", level, code, message });
    },
    event: (event) => writeObject(toStreamedEvent(event)),
    finish: (result) => writeObject({ type: "result", ...toResultFields(result) }),
  };
}

/** An event as it is streamed: whole, but for the growing message, which would make a long answer quadratic. */
function toStreamedEvent(event: AgentEvent): object {
  if (event.type !== "message_delta") return event;
  const { type, itemId, delta } = event;
  return { type, itemId, delta };
}
