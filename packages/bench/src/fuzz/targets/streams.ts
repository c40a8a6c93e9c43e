import { ProviderError, toolCallsOf } from "@diligent/core";
import fc from "fast-check";
import { user } from "../../../../core/test/support/agent-run.ts";
import { result } from "../../../../core/test/support/messages.ts";
import { READ_TOOL } from "../../../../core/test/support/models.ts";
import { anyDamage, applyDamage } from "../damage.ts";
import { findRefusals } from "../histories.ts";
import { ANSWERS, anyWrapping, askWith, type StreamEnd, wrapEvents } from "../streams.ts";
import { createTarget } from "../target.ts";

const anyAnswer = fc.nat(ANSWERS.length - 1);
const uncut = new Map<number, Promise<StreamEnd>>();

/** The result of the plain stream in one piece. */
function readUncut(index: number): Promise<StreamEnd> {
  const known = uncut.get(index) ?? askWith(answerAt(index).service, { body: answerAt(index).body });
  uncut.set(index, known);
  return known;
}

function answerAt(index: number) {
  const answer = ANSWERS[index];
  if (!answer) throw new Error(`There is no answer ${index}.`);
  return answer;
}

/** Each server has a separate port. */
function describe(end: StreamEnd | undefined): string {
  const text = JSON.stringify(end, (_, value: unknown) => (value instanceof Error ? String(value) : value));
  return text.replace(/127\.0\.0\.1:\d+/g, "HOST");
}

/**
 * However the bytes of an answer arrive and whatever the format allows around them: the answer is the same.
 */
export const STREAM_CUTS = createTarget({
  name: "stream-cuts",
  about: "an answer cut into pieces anywhere, in every allowed form, is the same answer",
  runs: { usual: 2_000, short: 40 },
  values: fc.record({
    answer: anyAnswer,
    wrapping: anyWrapping,
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
  }),
  async findProblem({ answer, wrapping, cuts }) {
    const { service, body } = answerAt(answer);
    const bytes = Buffer.from(wrapEvents(body, wrapping));
    const offsets = cuts.map((at) => Math.floor(at * bytes.length)).sort((left, right) => left - right);
    const [expected, found] = [
      await readUncut(answer),
      await askWith(service, { body: bytes, cuts: offsets }),
    ];
    const [whole, cut] = [expected, found].map(describe);
    return cut === whole ? undefined : `${answerAt(answer).name} became ${cut}, uncut ${whole}`;
  },
});

/**
 * Whatever arrives instead of an answer: exactly one end, with a message if it is an error, and the
 * conversation can continue.
 */
export const STREAM_NOISE = createTarget({
  name: "stream-noise",
  about: "an answer with random bytes in it ends in an answer or in an error, and the session continues",
  runs: { usual: 3_000, short: 60 },
  values: fc.record({
    answer: anyAnswer,
    damages: anyDamage,
    ending: fc.constantFrom("end" as const, "end" as const, "reset" as const),
    type: fc.constantFrom("text/event-stream", "text/event-stream", "application/json", "text/html", ""),
  }),
  async findProblem({ answer, damages, ending, type }) {
    const { service, body } = answerAt(answer);
    const headers = { "content-type": type };
    const end = await askWith(service, { body: applyDamage(Buffer.from(body), damages), ending, headers });
    if (end.ends !== 1) return `it ended ${end.ends} times`;
    if (end.error !== undefined) {
      const isSaid = end.error instanceof ProviderError && end.error.message.trim() !== "";
      return isSaid ? undefined : `the error is ${end.error}`;
    }
    if (!end.message) return "there is neither an answer nor an error";
    const { message } = end;
    const results = toolCallsOf(message).map(({ id }) => result(id));
    const messages = [user("go"), message, ...results, user("next")];
    const [refusal] = findRefusals({ systemPrompt: "s", messages, tools: [READ_TOOL] });
    return refusal === undefined ? undefined : `the next request: ${refusal}`;
  },
});
