import fc from "fast-check";
import type { TurnScript } from "../../../../core/test/support/agent-run.ts";
import { VENDOR_NAMES, type VendorName } from "./vendors.ts";

/** One thing that is done to a session. Places are numbers of messages; steps that cannot be taken are passed over. */
export type Step =
  | { do: "run"; turns: readonly TurnScript[]; stopAt: number; steerAt: number }
  | { do: "tell" }
  | { do: "crash"; lostBytes: number }
  | { do: "resume" | "switch"; to: VendorName }
  | { do: "branch" | "fork"; at: number }
  | { do: "leave"; at: number; summary: TurnScript; stops: boolean }
  | { do: "compact"; summary: TurnScript; stops: boolean };

const LONG = "a result that is long enough to be shortened, ".repeat(60);
const GOOD_SUMMARY =
  "## Goal\nMend src/a.ts.\n\n## Progress\n- read it\n\n## Key Decisions\n- none\n\n## Next Steps\n1. go on\n\n## Critical Context\n- `parse` throws at line 12";

const say = fc.constantFrom("Done.", "", " \n", "cut \ud83d off", "grüße 🎉 \u0000");
const noted = fc.constantFrom("a", "", "\ud800", LONG);
const error = fc.constantFrom("auth", "context_overflow", "overloaded", "stream_cut", "invalid_response");

const call = fc.record({
  name: fc.constantFrom("note", "note", "note", "none", "no such tool!"),
  input: fc.oneof(
    noted.map((text): unknown => ({ text })),
    fc.constantFrom<unknown>("no JSON", "", "[1]", '{"text": "a', { text: null }, { other: 1 }),
  ),
});

const words = fc.record(
  { thinking: say, text: say, toolCalls: fc.array(call, { maxLength: 4 }) },
  { requiredKeys: [] },
);

const stops = fc.constantFrom("max_tokens", "refusal", "stop_sequence", "error", "no_such_stop");

const turn: fc.Arbitrary<TurnScript> = fc.oneof(
  { weight: 6, arbitrary: words },
  { weight: 1, arbitrary: fc.tuple(words, stops).map(([said, stopReason]) => ({ ...said, stopReason })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(words, error)
      .map(([said, errorType]) => ({ ...said, error: { errorType, message: "It did not work." } })),
  },
);

const summary: fc.Arbitrary<TurnScript> = fc.oneof(
  fc.constant<TurnScript>({ text: GOOD_SUMMARY }),
  fc.constantFrom<TurnScript>({ text: "ok" }, {}, { text: GOOD_SUMMARY, stopReason: "max_tokens" }),
  fc.constant<TurnScript>({ error: { errorType: "server_error", message: "It did not work." } }),
);

const NEVER = 1000;
const moment = fc.oneof(fc.nat(40), fc.constant(NEVER));
const at = fc.nat(30);
const vendor = fc.constantFrom(...VENDOR_NAMES);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("run" as const),
      turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
      stopAt: moment,
      steerAt: moment,
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "tell" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("crash" as const), lostBytes: fc.nat(900) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom("resume" as const, "switch" as const), to: vendor }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("branch" as const, "fork" as const), at }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("leave" as const), at, summary, stops: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("compact" as const), summary, stops: fc.boolean() }) },
);

/** What is done to one session, from its beginning on. */
export interface History {
  first: VendorName;
  /** Tokens; in a small one the session is shortened and summarised by itself. */
  contextWindow: number;
  steps: readonly Step[];
}

/** Short sessions in windows from one that is full after a few steps to one that never is. */
export const anyHistory: fc.Arbitrary<History> = fc.record({
  first: vendor,
  contextWindow: fc.constantFrom(2_500, 6_000, 200_000),
  steps: fc.array(step, { minLength: 2, maxLength: 9 }),
});
