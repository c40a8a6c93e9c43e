import { describe, expect, test } from "bun:test";
import { countCharacters, TokenEstimator } from "../../src/session/compaction/tokens.ts";
import { estimateTokens, shouldCompact } from "../../src/session/compaction.ts";
import { assistant, call, image, pngBytes, result, text, user } from "../support/messages.ts";

describe("estimateTokens", () => {
  test("of no messages is 0", () => {
    expect(estimateTokens([])).toBe(0);
  });

  test("counts four characters of a user's text as a token, rounded up", () => {
    expect(estimateTokens([user("Hello, world!")])).toBe(4);
    expect(estimateTokens([user("12345678")])).toBe(2);
  });

  test("rounds up once for all messages", () => {
    expect(estimateTokens([user("a"), assistant([text("b")]), user("cd")])).toBe(1);
  });

  test("counts an assistant's text, thinking, call names and arguments", () => {
    const message = assistant([
      { type: "thinking", thinking: "hmm" },
      text("ok"),
      call("1", "read", { file_path: "a" }),
    ]);
    expect(countCharacters(message)).toBe(3 + 2 + "read".length + '{"file_path":"a"}'.length);
  });

  test("counts arguments that were no JSON as they came", () => {
    expect(countCharacters(assistant([{ ...call("1", "ls"), invalidInput: '{"pa' }]))).toBe(6);
  });

  test("counts a result by its output", () => {
    expect(countCharacters(result("1", "x".repeat(400)))).toBe(400);
  });

  test("counts an image as 1,200 tokens, whatever its size and wherever it stands", () => {
    const large = image(pngBytes(2_000, 2_000, 100_000));
    expect(estimateTokens([user([image()])])).toBe(1_200);
    expect(estimateTokens([user([text("look"), large])])).toBe(1_201);
    expect(estimateTokens([result("1", "", { images: [large, image()] })])).toBe(2_400);
  });

  test("counts a block that only its provider understands by its JSON", () => {
    expect(countCharacters(assistant([{ type: "opaque", provider: "x", raw: { a: 1 } }]))).toBe(7);
    expect(countCharacters(assistant([{ type: "opaque", provider: "x", raw: undefined }]))).toBe(2);
  });
});

describe("shouldCompact", () => {
  test("is false exactly at the threshold and below it, and true above it", () => {
    expect(shouldCompact(183_616, 200_000, 16_384)).toBe(false);
    expect(shouldCompact(183_615, 200_000, 16_384)).toBe(false);
    expect(shouldCompact(183_617, 200_000, 16_384)).toBe(true);
  });
});

describe("the token estimator", () => {
  test("begins with a quarter of a token for a character and rounds up", () => {
    const estimator = new TokenEstimator();
    expect([estimator.estimate(0), estimator.estimate(1), estimator.estimate(4_001)]).toEqual([0, 1, 1_001]);
  });

  test("follows what was really counted by a tenth each time", () => {
    const estimator = new TokenEstimator();
    estimator.calibrate(1_000, 350);
    expect(estimator.ratio).toBeCloseTo(0.26, 10);
    estimator.calibrate(1_000, 350);
    expect(estimator.ratio).toBeCloseTo(0.269, 10);
    expect(estimator.samples).toBe(2);
  });

  test("comes close to the truth after many requests", () => {
    const estimator = new TokenEstimator();
    for (let count = 0; count < 50; count++) estimator.calibrate(10_000, 4_000);
    expect(estimator.ratio).toBeCloseTo(0.4, 2);
  });

  test("passes over observations that cannot be true", () => {
    const estimator = new TokenEstimator({ ratio: 0.3, samples: 7 });
    const impossible = [
      [0, 10],
      [10, 0],
      [-5, -5],
      [1_000, 49],
      [10, 31],
      [Number.NaN, 1],
      [1, Number.POSITIVE_INFINITY],
    ] as const;
    for (const [characters, tokens] of impossible) estimator.calibrate(characters, tokens);
    expect([estimator.ratio, estimator.samples]).toEqual([0.3, 7]);
  });

  test("begins anew where what was kept cannot be true", () => {
    for (const ratio of [0, -1, 40, Number.NaN]) {
      const estimator = new TokenEstimator({ ratio, samples: 9 });
      expect([estimator.ratio, estimator.samples]).toEqual([0.25, 0]);
    }
  });
});
