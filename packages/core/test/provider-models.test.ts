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
