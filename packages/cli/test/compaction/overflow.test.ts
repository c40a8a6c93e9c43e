import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { messageEnd, messageStart, textBlock } from "../../../core/test/support/answers.ts";
import { created, failed, openAIError } from "../../../core/test/support/openai-answers.ts";
import { errorReply, type Reply } from "../../../core/test/support/sse-server.ts";
import {
  ANTHROPIC,
  COMPATIBLE,
  COUNTED_SERVICES,
  type CountedService,
  type CountingServer,
  configureModel,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { entryTypes } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const NO_LIMIT = Number.POSITIVE_INFINITY;
const ASK = ["-c", "-p", "and now?"];
const EIGHT_MESSAGES = Array.from({ length: 8 }, () => "message");

/** The last request was accepted: a summary, followed by the later messages. */
function expectShortened({ turns, problems }: CountingServer): void {
  const [first] = turns;
  const last = turns.at(-1);
  expect(last?.messages[0]).toStartWith("[Session Summary]\n## Goal");
  // Some services merge consecutive messages of one side.
  expect(last?.messages.at(-1)).toEndWith("and now?");
  expect(last?.tokens).toBeLessThan(0.8 * (first?.tokens ?? 0));
  expect(problems).toEqual([]);
}

describe.each(COUNTED_SERVICES)("a request that $name refuses for its length", (service) => {
  test("is repeated with a summary, however much smaller the window is than assumed", async () => {
    writeLongSession(place, service.model, { turns: 4, charactersPerMessage: 6_000 });
    await using server = await startCountingServer(service, { window: 8_000, answer: () => "All right." });
    configureModel(place, service, server, { limits: { contextWindow: 100_000 } });
    const { stdout, stderr, exitCode } = await runDiligent(place, ASK);
    expect([stdout, exitCode]).toEqual(["All right.\n", 0]);
    expect(stderr).toMatch(
      /⟳ Compacting context \((1\dk) tokens\)\.\.\.\nContext compacted: \1 → [1-5]k tokens\n/,
    );
    expect(server.turns).toHaveLength(2);
    expectShortened(server);
    expect(entryTypes(place).slice(1)).toEqual([...EIGHT_MESSAGES, "message", "compaction", "message"]);
  });

  test("ends the run with the provider's message if it is refused again", async () => {
    writeLongSession(place, service.model, { turns: 4, charactersPerMessage: 2_000 });
    await using server = await startCountingServer(service, {
      window: NO_LIMIT,
      answer: ({ tokens }) => service.overflow(tokens, 1_000),
    });
    configureModel(place, service, server);
    const { stdout, stderr, exitCode } = await runDiligent(place, ASK);
    expect([stdout, exitCode]).toEqual(["", 1]);
    const refusal = Object(server.turns.at(-1));
    const { error } = JSON.parse(String(service.overflow(refusal.tokens, 1_000).body));
    expect(stderr.trimEnd().split("\n").at(-1)).toEndWith(error.message);
    expect([server.turns.length, server.summaries.length]).toEqual([2, 1]);
    expect(entryTypes(place).slice(1)).toEqual([...EIGHT_MESSAGES, "message", "compaction"]);
  });
});

test("ends the run if compaction is turned off", async () => {
  writeLongSession(place, OPENAI.model, { turns: 4, charactersPerMessage: 6_000 });
  await using server = await startCountingServer(OPENAI, { window: 8_000, answer: () => "never" });
  configureModel(place, OPENAI, server, { compaction: { enabled: false } });
  const { stdout, exitCode } = await runDiligent(place, ASK);
  expect([stdout, exitCode, server.asked.length]).toEqual(["", 1, 1]);
  expect(entryTypes(place).slice(1)).toEqual([...EIGHT_MESSAGES, "message"]);
});

const PREFIX = "input length and `max_tokens` exceed context limit";

/** What services send if a request does not fit, besides a plain refusal. */
const OTHER_WAYS: readonly [string, CountedService, Reply][] = [
  [
    "input and answer together are too long",
    ANTHROPIC,
    errorReply(400, "invalid_request_error", `${PREFIX}: 13300 + 16384 > 20000, decrease input length`),
  ],
  [
    "the request has too many bytes",
    ANTHROPIC,
    errorReply(413, "request_too_large", "Request exceeds the maximum size"),
  ],
  [
    "the window is full in the middle of the answer",
    ANTHROPIC,
    {
      events: [
        messageStart(),
        ...textBlock(0, "Half an ans"),
        ...messageEnd("model_context_window_exceeded"),
      ],
    },
  ],
  [
    "the response fails after it has begun",
    OPENAI,
    { events: [created(), failed("context_length_exceeded")] },
  ],
  [
    "an event of the stream says so",
    OPENAI,
    {
      events: [
        created(),
        { type: "error", code: "context_length_exceeded", message: "too long", param: null },
      ],
    },
  ],
  [
    "it is a rate limit that no waiting helps with",
    OPENAI,
    openAIError(429, {
      type: "tokens",
      code: "rate_limit_exceeded",
      message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 34312.",
    }),
  ],
  [
    "the server only has words for it",
    COMPATIBLE,
    { status: 400, body: '{"error":"input length exceeds the context length"}' },
  ],
];

describe("a request is repeated with a summary if", () => {
  test.each(OTHER_WAYS)("%s", async (_, service, reply) => {
    writeLongSession(place, service.model, { turns: 4, charactersPerMessage: 6_000 });
    let replies = 0;
    await using server = await startCountingServer(service, {
      window: NO_LIMIT,
      answer: () => (replies++ === 0 ? reply : "All right."),
    });
    configureModel(place, service, server, { limits: { contextWindow: 100_000 } });
    const { stdout, exitCode } = await runDiligent(place, ASK);
    expect([stdout, exitCode, server.turns.length]).toEqual(["All right.\n", 0, 2]);
    expectShortened(server);
    expect(entryTypes(place).slice(1)).toEqual([...EIGHT_MESSAGES, "message", "compaction", "message"]);
  });
});
