import type { Notice } from "@diligent/core/harness";
import type { AgentEvent, RunStopReason, SerializableError, Usage } from "@diligent/core/run";
import type { Evidence } from "../evidence/format-evidence.ts";
import { type CliIo, writeFailure, writeLine } from "../io/io.ts";
import { toJsonLine } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { describeProgress, describeStop, type RunSummary } from "./summary.ts";

/** Prints one object to stdout at the end of the run; warnings go to stderr. */
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

/** The object printed by `json`, and the last line of `stream-json`. */
interface ResultFields {
  sessionId: string;
  result: string;
  stopReason: RunStopReason;
  usage: Usage;
  cost: number | null;
  turns: number;
  durationMs: number;
  evidence?: Evidence;
  error?: SerializableError;
}

/** A run without an end counts as `error`. `cost` in US dollars, to nine decimals; `durationMs` is an integer. */
function toResultFields({ sessionId, summary, durationMs }: RunResult): ResultFields {
  const { result, stopReason = "error", usage, cost, turns, evidence } = summary;
  const error = summary.error ?? missingApproval(summary);
  return {
    sessionId,
    result,
    stopReason,
    usage,
    cost: cost === null ? null : Math.round(cost * 1e9) / 1e9,
    turns,
    durationMs: Math.round(durationMs),
    ...(evidence && { evidence }),
    ...(error && { error }),
  };
}

/** Scripts that read the result learn what would have allowed it, as people do in text mode. */
function missingApproval(summary: RunResult["summary"]): SerializableError | undefined {
  if (summary.stopReason !== "approval") return undefined;
  const message = describeStop(summary);
  return message === undefined ? undefined : { name: "ApprovalError", message, errorType: "approval" };
}

/** The initial facts of a run. */
interface SessionFacts {
  sessionId: string;
  /** Model id. */
  model: string;
  cwd: string;
  /** diligent's version. */
  version: string;
}

/** Print mode's final facts; `durationMs` is wall time. */
export interface RunResult {
  sessionId: string;
  summary: RunSummary;
  durationMs: number;
}

/** An output format of print mode. Its methods are called in this order; it decides what is written where. */
export interface RunOutput {
  begin(facts: SessionFacts): void;
  /** A notice that is not an event of the run. */
  notice(notice: Notice): void;
  event(event: AgentEvent): void;
  /** Called exactly once, whatever the outcome. */
  finish(result: RunResult): void;
}

/** The output of stream-json also has lines that are not part of a run. */
export interface StreamJsonOutput extends RunOutput {
  line(value: object): void;
}

/** One JSON object per line: the session, every event as it happens, and the result last. */
export function createStreamJsonOutput({
  stdout,
  stderr,
}: Pick<CliIo, "stdout" | "stderr">): StreamJsonOutput {
  const writeObject = (value: object) => stdout.write(toJsonLine(value));
  return {
    begin: ({ sessionId, model, cwd, version }) =>
      writeObject({ type: "session", sessionId, model, cwd, version }),
    notice({ level, code, message }) {
      if (level !== "info") writeLine(stderr, `${level}: ${message}`);
      writeObject({ type: "notice", level, code, message });
    },
    line: writeObject,
    event: (event) => writeObject(toStreamedEvent(event)),
    finish: (result) => writeObject({ type: "result", ...toResultFields(result) }),
  };
}

/** A streamed event without the growing message, which would make output quadratic in the answer's length. */
function toStreamedEvent(event: AgentEvent): object {
  if (event.type === "agent_event") return { ...event, event: toStreamedEvent(event.event) };
  if (event.type !== "message_delta") return event;
  const { type, itemId, delta } = event;
  return { type, itemId, delta };
}

/** Only the answer goes to stdout; progress and errors go to stderr. */
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
