import {
  callChunk,
  callEntry,
  chunk,
  finishChunk,
  textAnswer,
  toBody,
  usageChunk,
} from "../../../../core/test/support/compatible-answers.ts";
import {
  type Recording,
  readAnthropicRecordings,
  readOpenAIRecordings,
} from "../../../../core/test/support/recordings.ts";
import { toSse } from "../../../../core/test/support/sse-server.ts";
import type { ServiceName } from "./ask-with.ts";

/** The body of an answer as the service sends it. */
export interface RecordedAnswer {
  name: string;
  service: ServiceName;
  body: string;
}

// Of the larger recordings there are hundreds of kilobytes of the same few events.
const MAX_CHARACTERS = 60_000;

function fromRecordings(service: ServiceName, recordings: readonly Recording[]): RecordedAnswer[] {
  const answers = recordings.map(({ name, events }) => ({ name, service, body: toSse(events) }));
  return answers.filter(({ body }) => body.length <= MAX_CHARACTERS);
}

const LOCAL = {
  "an answer": textAnswer("Grüße, 日本語, 🎉. ".repeat(20)),
  "thinking and calls": [
    chunk({ role: "assistant", reasoning_content: "I look 🔎 first." }),
    chunk({ content: "So." }),
    callChunk(callEntry('{"path":', { index: 0, id: "a", name: "read" })),
    callChunk(callEntry('"ü.ts"}', { index: 0 })),
    callChunk(callEntry("{}", { index: 1, id: "b", name: "read" })),
    finishChunk("tool_calls"),
    usageChunk(),
  ],
  "an answer that is cut short": [chunk({ content: "Half" }), finishChunk("length"), usageChunk()],
};

/** Recordings of both services, and what servers of the third kind send. */
export const ANSWERS: readonly RecordedAnswer[] = [
  ...fromRecordings("anthropic", readAnthropicRecordings()),
  ...fromRecordings("openai", readOpenAIRecordings()),
  ...Object.entries(LOCAL).map(([name, chunks]) => ({
    name,
    service: "local" as const,
    body: toBody(chunks),
  })),
];
