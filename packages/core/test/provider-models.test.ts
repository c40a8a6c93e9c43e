import { describe, expect, test } from "bun:test";
import {
  DEFAULT_MODEL,
  findKnownModel,
  inferProvider,
  KNOWN_MODELS,
  resolveModel,
} from "../src/provider/models.ts";

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

  test("an id without any known prefix falls back to Anthropic but has no inferred provider", () => {
    expect(inferProvider("llama")).toBeUndefined();
    expect(resolveModel("llama")).toEqual({
      id: "llama",
      provider: "anthropic",
      contextWindow: 200_000,
      maxOutputTokens: 16_384,
    });
  });
});

describe("the figures of OpenAI's models", () => {
  test("with a long input all of it costs more", () => {
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
