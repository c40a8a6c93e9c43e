import { describe, expect, test } from "bun:test";
import {
  countContextTokens,
  findAnsweredTokens,
  TokenEstimator,
} from "../../src/session/compaction/tokens.ts";
import type { SessionEntry } from "../../src/session/types.ts";
import { EMPTY_USAGE, type Message } from "../../src/types.ts";
import { compaction, inLine } from "../support/context-entries.ts";
import { assistant, result, text, user } from "../support/messages.ts";
import { entry } from "../support/session-files.ts";

const answered = (inputTokens: number, outputTokens = 0, stopReason: "end_turn" | "aborted" = "end_turn") =>
  assistant([text("x".repeat(400))], { usage: { ...EMPTY_USAGE, inputTokens, outputTokens }, stopReason });

const line = (...messages: Message[]): SessionEntry[] =>
  inLine(...messages.map((message, index) => entry(`${index}`, null, message)));

/** With a prompt of 4,000 characters, at four characters a token. */
function count(path: readonly SessionEntry[]): number {
  const messages = path.flatMap((step) => (step.type === "message" ? [step.message] : []));
  return countContextTokens(path, { fixedCharacters: 4_000, messages }, new TokenEstimator());
}

const LONG = user("y".repeat(8_000));

describe("the tokens of the next request", () => {
  test("are what was counted last and an estimate of what came after it", () => {
    expect(count(line(LONG, answered(5_000, 200), user("z".repeat(800))))).toBe(5_400);
  });

  test("are estimated as a whole where nothing was counted", () => {
    expect(count(line(LONG, answered(0), user("z".repeat(800))))).toBe(1_000 + 2_000 + 100 + 200);
    expect(count(line(LONG, answered(5_000, 0, "aborted")))).toBe(3_100);
  });

  test("are estimated as a whole where the count leaves out most of the request", () => {
    expect(count(line(LONG, answered(1, 1), user("z".repeat(800))))).toBe(3_300);
    expect(count(line(LONG, answered(600)))).toBe(3_100);
    expect(count(line(LONG, answered(700)))).toBe(700);
  });

  test("are what was counted however few of them an image took", () => {
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, mediaType: "image/png", data: "" },
    };
    const images = result("a", "z", { images: Array.from({ length: 20 }, () => image) });
    expect(count(line(user("look"), images, answered(900)))).toBe(900);
  });
});

describe("the newest request that was answered since the last compaction", () => {
  test("is told by its answer, without what that has added", () => {
    expect(findAnsweredTokens(line(LONG, answered(5_000, 200), user("go on")))).toBe(5_000);
    expect(findAnsweredTokens(line(LONG, answered(0)))).toBe(0);
  });

  test("is none directly behind a compaction", () => {
    const path = inLine(...line(LONG, answered(5_000)), compaction("c", null, { firstKeptEntryId: "1" }));
    expect(findAnsweredTokens([...path, ...line(user("go on"))])).toBeUndefined();
    expect(findAnsweredTokens([])).toBeUndefined();
  });
});
