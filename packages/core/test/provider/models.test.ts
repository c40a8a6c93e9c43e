import { describe, expect, test } from "bun:test";
import { PRICE_CHECKS } from "../../src/provider/models/known-models.ts";
import {
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  resolveModel,
} from "../../src/provider/models.ts";

/** The ids that the vendors' own libraries name. */
const VENDOR_IDS: Readonly<Record<string, readonly string[]>> = {
  anthropic: [
    ...["sonnet-5-5", "sonnet-5", "opus-5-5", "opus-5", "haiku-5-5", "fable-5-2", "fable-5-1", "fable-5"],
    ...["mythos-5-2", "mythos-5-1", "mythos-5", "mythos-preview", "opus-4-8", "opus-4-7", "opus-4-6"],
    ...["opus-4-5", "opus-4-5-20251101", "sonnet-4-6", "sonnet-4-5", "sonnet-4-5-20250929"],
    ...["haiku-4-5", "haiku-4-5-20251001"],
  ].map((name) => `claude-${name}`),
  openai: [
    ...["gpt-6-astra", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-sol", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.5"],
    ...["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.1-codex", "gpt-5", "gpt-5-mini", "gpt-5-nano"],
    ...["gpt-4.1", "gpt-4o", "gpt-4o-mini", "o4-mini", "o3"],
  ],
};

describe("KNOWN_MODELS", () => {
  test.each([
    ["claude-sonnet-4-20250514", "anthropic", 200_000, 16_384, 3, 15],
    ["claude-3-5-haiku-20241022", "anthropic", 200_000, 8_192, 0.8, 4],
    ["gpt-4o", "openai", 128_000, 16_384, 2.5, 10],
    ["gpt-4o-mini", "openai", 128_000, 16_384, 0.15, 0.6],
    ["o3", "openai", 200_000, 100_000, 2, 8],
  ])(
    "%s is known with its limits and prices",
    (id, provider, contextWindow, maxOutputTokens, input, output) => {
      const figures = { contextWindow, maxOutputTokens, inputCostPer1M: input, outputCostPer1M: output };
      expect(KNOWN_MODELS.find((model) => model.id === id)).toMatchObject({ id, provider, ...figures });
    },
  );

  test("each price has its source and date, which no model without a price has", () => {
    for (const { id, inputCostPer1M } of KNOWN_MODELS) {
      const priceCheck = PRICE_CHECKS.get(id);
      expect([id, priceCheck !== undefined]).toEqual([id, inputCostPer1M !== undefined]);
      if (priceCheck) expect(priceCheck.checked).toMatch(/^20\d\d-(0[1-9]|1[0-2])$/);
    }
  });

  test("contains every model of both vendors' families", () => {
    for (const [provider, ids] of Object.entries(VENDOR_IDS)) {
      expect(ids.filter((id) => findKnownModel(id)?.provider !== provider)).toEqual([]);
    }
  });

  test.each([
    ["sonnet", "claude-sonnet-5-5"],
    ["claude-sonnet", "claude-sonnet-5-5"],
    ["haiku", "claude-haiku-5-5"],
    ["claude-haiku", "claude-haiku-5-5"],
    ["4o", "gpt-4o"],
    ["4o-mini", "gpt-4o-mini"],
    ["claude-haiku-3-5-20241022", "claude-3-5-haiku-20241022"],
  ])("the alias %s means %s", (alias, id) => {
    expect(resolveModel(alias).id).toBe(id);
  });

  test("known limits are consistent: an answer and its input fit into the window, and a price has both sides", () => {
    for (const model of KNOWN_MODELS) {
      const { contextWindow, maxOutputTokens, maxInputTokens = 0 } = model;
      expect([model.id, maxOutputTokens < contextWindow, maxInputTokens < contextWindow]).toEqual([
        model.id,
        true,
        true,
      ]);
      expect(model.inputCostPer1M === undefined).toBe(model.outputCostPer1M === undefined);
    }
  });

  test("reading the cache costs what each model's own price list states", () => {
    const read = (id: string) => resolveModel(id).cacheReadCostPer1M;
    expect(["haiku", "sonnet", "opus", "claude-opus-5", "fable"].map(read)).toEqual([
      0.01, 0.1, 0.2, 0.5, 0.25,
    ]);
    expect(["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-4o-mini", "o3"].map(read)).toEqual([
      0.25, 0.075, 0.02, 0.075, 0.5,
    ]);
  });

  test("every model with a price has one for reading the cache: both vendors charge less for that", () => {
    for (const { id, inputCostPer1M, cacheReadCostPer1M = Number.NaN } of KNOWN_MODELS) {
      if (inputCostPer1M !== undefined) expect([id, cacheReadCostPer1M < inputCostPer1M]).toEqual([id, true]);
    }
  });
});

describe("resolveModel", () => {
  test("the default model is a known one", () => {
    expect(findKnownModel(DEFAULT_MODEL)?.id).toBe(DEFAULT_MODEL);
  });

  test("no id or alias names two models", () => {
    const names = KNOWN_MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
    expect(names).toEqual([...new Set(names)]);
  });

  test("an alias and a provider prefix lead to the model", () => {
    expect(resolveModel("sonnet").id).toBe("claude-sonnet-5-5");
    expect(resolveModel("anthropic/claude-opus-5-5")).toEqual(resolveModel("opus"));
    expect(findKnownModel("openai/claude-opus-5-5")).toBeUndefined();
  });

  test.each([
    ["claude-future-9", "anthropic"],
    ["gpt-99", "openai"],
    ["o7-mini", "openai"],
    ["openai/some-model", "openai"],
  ])("the provider of the unknown %s is %s", (id, provider) => {
    expect(inferProvider(id)).toBe(provider);
    expect(resolveModel(id).provider).toBe(provider);
    expect(resolveModel(id).inputCostPer1M).toBeUndefined();
  });

  test("an id without a known prefix falls back to Anthropic but has no inferred provider", () => {
    expect(inferProvider("llama")).toBeUndefined();
    expect(resolveModel("llama")).toEqual({
      id: "llama",
      provider: "anthropic",
      contextWindow: 200_000,
      maxOutputTokens: 16_384,
    });
  });
});

describe("the prices of OpenAI's models", () => {
  test("apply the higher price to all of a long input", () => {
    expect(resolveModel("openai/luna")).toEqual({
      id: "gpt-6-luna",
      provider: "openai",
      contextWindow: 1_050_000,
      maxInputTokens: 922_000,
      maxOutputTokens: 128_000,
      inputCostPer1M: 0.1,
      outputCostPer1M: 0.5,
      cacheReadCostPer1M: 0.01,
      cacheWriteCostPer1M: 0.125,
      longContext: {
        aboveInputTokens: 272_000,
        inputCostPer1M: 0.2,
        outputCostPer1M: 0.75,
        cacheReadCostPer1M: 0.02,
        cacheWriteCostPer1M: 0.25,
      },
      thinking: "adaptive",
    });
  });

  test("a price that could not be checked is unknown", () => {
    expect(resolveModel("gpt-5.6")).toMatchObject({ id: "gpt-5.6-sol", contextWindow: 1_050_000 });
    expect(resolveModel("gpt-5.6").inputCostPer1M).toBeUndefined();
    expect(resolveModel("gpt-5.6").longContext).toBeUndefined();
  });
});
