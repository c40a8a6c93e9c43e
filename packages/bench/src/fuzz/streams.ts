import {
  type AssistantMessage,
  createAnthropicStream,
  createCompatibleStream,
  createOpenAIStream,
  type StreamFunction,
} from "@diligent/core";
import fc from "fast-check";
import { user } from "../../../core/test/support/agent-run.ts";
import {
  callChunk,
  callEntry,
  chunk,
  finishChunk,
  textAnswer,
  toBody,
  usageChunk,
} from "../../../core/test/support/compatible-answers.ts";
import { READ_TOOL } from "../../../core/test/support/models.ts";
import {
  type Recording,
  readAnthropicRecordings,
  readOpenAIRecordings,
} from "../../../core/test/support/recordings.ts";
import { type Reply, startSseServer, toSse } from "../../../core/test/support/sse-server.ts";
import { modelOf } from "./histories.ts";

/** The result of a request. */
export interface StreamEnd {
  /** How many events said that it was finished. */
  ends: number;
  /** Without its time. */
  message?: AssistantMessage;
  error?: unknown;
}

/** Whose adapter parses the stream; `local` is a compatible server. */
export type ServiceName = "anthropic" | "openai" | "local";

/** The adapter of each service, for a server at an address. */
export const CONNECT: Record<ServiceName, (url: string) => StreamFunction> = {
  anthropic: (url) => createAnthropicStream("key", url),
  openai: (url) => createOpenAIStream("key", `${url}/v1`),
  local: (url) => createCompatibleStream("local", { baseUrl: url }),
};

/** Sends a request to a loopback server with this reply, through the adapter of the service. */
export async function askWith(service: ServiceName, reply: Reply): Promise<StreamEnd> {
  await using server = await startSseServer(reply);
  const context = { systemPrompt: "s", messages: [user("go")], tools: [READ_TOOL] };
  const stream = CONNECT[service](server.url)(modelOf(service, 200_000), context, {});
  let ends = 0;
  for await (const { type } of stream) if (type === "done" || type === "error") ends++;
  try {
    const { message } = await stream.result();
    return { ends, message: { ...message, timestamp: 0 } };
  } catch (error) {
    return { ends, error };
  }
}

/** The body of an answer as the service sends it. */
export interface RecordedAnswer {
  name: string;
  service: ServiceName;
  body: string;
}

// The larger recordings contain hundreds of kilobytes of the same few events.
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

/** What may surround the events of a stream without changing it. */
interface Wrapping {
  lineEnd: "\n" | "\r\n";
  hasSpaceBehindColon: boolean;
  /** Splits the data of an event over two lines after its first brace, where JSON allows blanks. */
  hasSplitData: boolean;
  comments: boolean;
  unknownFields: boolean;
}

/** All variations that the format of server-sent events allows. */
export const anyWrapping: fc.Arbitrary<Wrapping> = fc.record({
  lineEnd: fc.constantFrom("\n" as const, "\r\n" as const),
  hasSpaceBehindColon: fc.boolean(),
  hasSplitData: fc.boolean(),
  comments: fc.boolean(),
  unknownFields: fc.boolean(),
});

/** @param body with a line feed at the end of each line, and data on one line. */
export function wrapEvents(body: string, wrapping: Wrapping): string {
  const { lineEnd, comments, unknownFields } = wrapping;
  const events = body.split("\n\n").filter((event) => event !== "");
  return events
    .map((event) => {
      const lines = event.split("\n").flatMap((line) => wrapLine(line, wrapping));
      const before = comments ? [": keep-alive", ":", ""] : [];
      const within = unknownFields ? ["id: 7", "nobody-knows: it", "retry: 10"] : [];
      return [...before, ...within, ...lines].join(lineEnd) + lineEnd + lineEnd;
    })
    .join("");
}

function wrapLine(line: string, { hasSpaceBehindColon, hasSplitData }: Wrapping): string[] {
  const colon = hasSpaceBehindColon ? ": " : ":";
  const [, field = "", value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
  if (field === "data" && hasSplitData && value.startsWith("{"))
    return [`data${colon}{`, `data${colon}${value.slice(1)}`];
  return [`${field}${colon}${value}`];
}
