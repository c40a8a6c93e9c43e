import { describe, expect, test } from "bun:test";
import { CompactionSettingsSchema } from "../../src/config/schema.ts";
import { DEFAULT_CONFIG } from "../../src/config/settings.ts";
import { scriptedModel } from "../../src/provider/scripted.ts";
import { limitsAfterRefusal, toContextLimits } from "../../src/session/compaction/limits.ts";

const model = (contextWindow: number, more: object = {}) => ({
  ...scriptedModel("x.json", { version: 1, turns: [] }),
  contextWindow,
  ...more,
});

describe("the limits of a model", () => {
  test("are those for large windows where there is room for them", () => {
    expect(toContextLimits(model(200_000))).toEqual({
      enabled: true,
      contextWindow: 200_000,
      reserveTokens: 16_384,
      keepRecentTokens: 20_000,
      maxPinnedTokens: 40_000,
      maxPinTokens: 20_000,
      maxFixedTokens: 100_000,
      maxSummaryTokens: 4_096,
      pruning: {
        enabled: true,
        softTrimChars: 4_000,
        softTrimHead: 1_500,
        softTrimTail: 1_500,
        hardClearAfter: 6,
        keepLast: 2,
        minimumTokens: 20_000,
        protectTokens: 40_000,
        startRatio: 0.5,
      },
    });
  });

  test("are the same with the default configuration as without any", () => {
    for (const window of [8_000, 200_000, 1_000_000])
      expect(toContextLimits(model(window), DEFAULT_CONFIG.compaction)).toEqual(
        toContextLimits(model(window)),
      );
  });

  test("are those that the schema of the configuration states", () => {
    const { pruning, ...settings } = CompactionSettingsSchema.shape;
    const stated = (shape: Record<string, { description?: string | undefined }>) =>
      Object.fromEntries(
        Object.entries(shape).flatMap(([name, { description }]) => {
          const [, value] = /by default (\d[\d.]*\d)/.exec(description ?? "") ?? [];
          return value === undefined ? [] : [[name, Number(value)]];
        }),
      );
    const all = { ...stated(settings), pruning: stated(pruning.unwrap().shape) };
    expect(Object.keys(all).sort()).toEqual([
      "keepRecentTokens",
      "maxContextTokens",
      "pruning",
      "reserveTokens",
    ]);
    expect(Object.keys(all.pruning).sort()).toEqual(["minimumTokens", "protectTokens", "startRatio"]);
    const { maxContextTokens: contextWindow, ...limits } = { maxContextTokens: 0, ...all };
    expect(toContextLimits(model(1_000_000))).toMatchObject({ contextWindow, ...limits });
  });

  test("are shares of a small window, but for what is configured", () => {
    const shares = { reserveTokens: 2_000, keepRecentTokens: 2_000, maxSummaryTokens: 1_000 };
    expect(toContextLimits(model(8_000))).toMatchObject({
      ...shares,
      pruning: { minimumTokens: 1_000, protectTokens: 2_000 },
    });
    const settings = { reserveTokens: 1, keepRecentTokens: 9_999, pruning: { minimumTokens: 7 } };
    expect(toContextLimits(model(8_000), settings)).toMatchObject(settings);
  });

  test("follow a limit on input that is smaller than the window", () => {
    const large = model(400_000, { maxInputTokens: 272_000 });
    const { contextWindow, reserveTokens } = toContextLimits(large, { maxContextTokens: 400_000 });
    expect(contextWindow - reserveTokens).toBe(272_000);
  });

  test("are those of 200,000 tokens for a larger window, unless maxContextTokens says otherwise", () => {
    expect(toContextLimits(model(1_000_000))).toEqual(toContextLimits(model(200_000)));
    expect(toContextLimits(model(1_000_000), { maxContextTokens: 500_000 }).contextWindow).toBe(500_000);
    expect(toContextLimits(model(100_000), { maxContextTokens: 500_000 }).contextWindow).toBe(100_000);
    expect(toContextLimits(model(200_000), { maxContextTokens: 8_000 })).toEqual(
      toContextLimits(model(8_000)),
    );
  });
});

describe("behind a request that was refused", () => {
  const limits = toContextLimits(model(100_000));

  test("the window is what was refused, where that was about what it should hold", () => {
    expect(limitsAfterRefusal(limits, { refused: 80_000 })).toEqual({
      ...limits,
      contextWindow: 80_000,
      keepRecentTokens: 20_000,
      maxPinnedTokens: 16_000,
      maxPinTokens: 8_000,
      pruning: { ...limits.pruning, minimumTokens: 10_000, protectTokens: 20_000 },
    });
    expect(limitsAfterRefusal(limits, { refused: 120_000 })).toEqual(limits);
  });

  test("the window is half of what was refused, where it should have held far more", () => {
    expect(limitsAfterRefusal(limits, { refused: 16_000 })).toEqual({
      ...limits,
      contextWindow: 8_000,
      reserveTokens: 2_000,
      keepRecentTokens: 2_000,
      maxPinnedTokens: 1_600,
      maxPinTokens: 800,
      maxSummaryTokens: 1_000,
      pruning: { ...limits.pruning, minimumTokens: 1_000, protectTokens: 2_000 },
    });
  });
});
