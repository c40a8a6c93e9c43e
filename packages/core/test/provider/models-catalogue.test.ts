import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createModelCatalog } from "../../src/provider/models/catalog.ts";
import type { CatalogSettings } from "../../src/provider/models.ts";
import {
  findKnownModel,
  KNOWN_MODELS,
  loadModelCatalog,
  ModelSettingError,
  resolveModel,
} from "../../src/provider/models.ts";

const SERVERS: CatalogSettings = {
  compatible: { local: { models: ["qwen3", { id: "big", contextWindow: 131_072 }] }, work: {} },
};

const ASSUMED = { contextWindow: 32_768, maxOutputTokens: 8_192, thinking: "none" } as const;

function problemOf(settings: CatalogSettings): string {
  try {
    createModelCatalog(settings);
  } catch (error) {
    if (error instanceof ModelSettingError) return error.message;
    throw error;
  }
  return "none";
}

describe("a known model", () => {
  test("keeps everything that a setting does not name", () => {
    const { resolve } = bound({ models: [{ id: "gpt-4o", contextWindow: 64_000, inputCostPer1M: 1 }] });
    expect(resolve("gpt-4o")).toEqual({
      ...resolveModel("gpt-4o"),
      contextWindow: 64_000,
      inputCostPer1M: 1,
    });
    expect(resolve("gpt-4o-mini")).toEqual(resolveModel("gpt-4o-mini"));
  });

  test.each(["claude-opus-5-5", "opus", "anthropic/opus"])("is corrected by the name %p", (id) => {
    const { find, resolve, list } = bound({ models: [{ id, aliases: ["big"], thinking: "adaptive" }] });
    expect(find("claude-opus-5-5")?.aliases).toEqual(["opus", "claude-opus", "big"]);
    expect(resolve("big")).toEqual({ ...resolveModel("opus"), thinking: "adaptive" });
    expect(list()).toHaveLength(KNOWN_MODELS.length);
  });

  test("loses what is no longer true: the vendor's price for long input, and limits above its window", () => {
    const { resolve } = bound({ models: [{ id: "gpt-5.4", contextWindow: 100_000, outputCostPer1M: 1 }] });
    expect(resolve("gpt-5.4")).toEqual({
      id: "gpt-5.4",
      provider: "openai",
      contextWindow: 100_000,
      maxOutputTokens: 25_000,
      inputCostPer1M: 2.5,
      outputCostPer1M: 1,
      cacheReadCostPer1M: 0.25,
      thinking: "adaptive",
      defersTools: true,
    });
  });
});

describe("an added model", () => {
  test("gets its provider from its id or from the setting", () => {
    const { find } = bound({ models: [{ id: "gpt-99" }, { id: "tuned", provider: "openai" }] });
    const limits = { contextWindow: 128_000, maxOutputTokens: 16_384 };
    const assumed = ["contextWindow", "maxOutputTokens"] as const;
    expect(find("gpt-99")).toEqual({ id: "gpt-99", provider: "openai", ...limits, assumed });
    expect(find("tuned")).toEqual({ id: "tuned", provider: "openai", ...limits, assumed });
    expect(find("openai/tuned")).toEqual(find("tuned"));
  });

  test("is listed with those of its provider", () => {
    const { list } = bound({ ...SERVERS, models: [{ id: "claude-next" }, { id: "work/a" }] });
    const providers = list().map(({ provider }) => provider);
    expect([...new Set(providers)]).toEqual(["anthropic", "openai", "local", "work"]);
    expect(providers).toEqual(providers.toSorted((a, b) => rank(a) - rank(b)));
  });

  test("may belong to a public provider under the id of another's, and takes precedence", () => {
    const { find } = bound({ models: [{ id: "claude-opus-5", provider: "openai" }] });
    expect(find("claude-opus-5")?.provider).toBe("openai");
    expect(find("anthropic/claude-opus-5")).toEqual(findKnownModel("claude-opus-5"));
  });
});

describe("a compatible server", () => {
  test("has its listed models, with conservative limits by default", () => {
    const { find, resolve } = bound(SERVERS);
    expect(resolve("local/qwen3")).toEqual({ id: "local/qwen3", provider: "local", ...ASSUMED });
    expect(find("local/big")).toEqual({
      id: "local/big",
      provider: "local",
      ...ASSUMED,
      contextWindow: 131_072,
      assumed: ["maxOutputTokens"],
    });
  });

  test("has all other models too, also with slashes in their names", () => {
    const { find, resolve, list } = bound(SERVERS);
    const id = "work/meta-llama/Llama-4";
    expect(resolve(id)).toEqual({ id, provider: "work", ...ASSUMED });
    expect(list().some((model) => model.id === id)).toBe(false);
    expect(find("work/")).toBeUndefined();
    expect(find("nowhere/qwen3")).toBeUndefined();
    expect(find("constructor/x")).toBeUndefined();
  });

  test.each([
    [4_096, 1_024],
    [16_000, 4_000],
    [40_000, 8_192],
    [1, 1],
  ])("with a window of %p has answers of at most %p tokens", (contextWindow, maxOutputTokens) => {
    const { resolve } = bound({ compatible: { local: { models: [{ id: "m", contextWindow }] } } });
    expect(resolve("local/m")).toMatchObject({ contextWindow, maxOutputTokens });
  });

  test("has models that settings correct or add, by NAME/MODEL or with the provider", () => {
    const { find, resolve } = bound({
      ...SERVERS,
      models: [
        { id: "local/qwen3", contextWindow: 262_144, maxOutputTokens: 32_768, thinking: "always" },
        { id: "org/tuned", provider: "work", inputCostPer1M: 0, outputCostPer1M: 0 },
      ],
    });
    expect(find("local/qwen3")).toEqual({
      id: "local/qwen3",
      provider: "local",
      contextWindow: 262_144,
      maxOutputTokens: 32_768,
      thinking: "always",
    });
    expect(resolve("work/org/tuned")).toMatchObject({ provider: "work", inputCostPer1M: 0 });
    expect(resolve("org/tuned")).toEqual(resolve("work/org/tuned"));
  });

  test("takes over the id of a public model only if a setting says so", () => {
    const listed = bound({ compatible: { local: { models: ["gpt-4o"] } } });
    expect(listed.resolve("gpt-4o")).toEqual(resolveModel("gpt-4o"));
    const set = bound({ compatible: { local: {} }, models: [{ id: "gpt-4o", provider: "local" }] });
    expect(set.resolve("gpt-4o").id).toBe("local/gpt-4o");
    expect(set.resolve("openai/gpt-4o")).toEqual(resolveModel("gpt-4o"));
  });

  test("shares an id with another one only by their full names", () => {
    const both = ["a", "b"].map((provider) => ({ id: "m", provider }));
    const { find } = bound({ compatible: { a: {}, b: {} }, models: both });
    expect([find("a/m")?.id, find("b/m")?.id, find("m")]).toEqual(["a/m", "b/m", undefined]);
  });
});

describe("an alias of the configuration", () => {
  test("takes precedence over a built-in one, which then no longer names the other model", () => {
    const { find, resolve } = bound({
      compatible: { local: { models: [{ id: "q", aliases: ["sonnet"] }] } },
    });
    expect(resolve("sonnet").id).toBe("local/q");
    expect(find("claude-sonnet-5-5")?.aliases).toEqual(["claude-sonnet"]);
  });

  test("names a model in later settings too", () => {
    const { resolve } = bound({
      compatible: { local: { models: [{ id: "q", aliases: ["sonnet"] }] } },
      models: [{ id: "sonnet", contextWindow: 50_000 }],
    });
    expect(resolve("local/q").contextWindow).toBe(50_000);
    expect(resolve("claude-sonnet-5-5")).toEqual(resolveModel("claude-sonnet-5-5"));
  });
});

describe("an invalid setting names its key and what to do", () => {
  const q = { id: "q", aliases: ["mine"] };
  const cases: [string, CatalogSettings, string][] = [
    [
      "two models with one alias",
      { compatible: { local: { models: [q] } }, models: [{ id: "gpt-5", aliases: ["a", "mine"] }] },
      'key "models[0].aliases[1]": "mine" means local/q already; choose another alias',
    ],
    [
      "an alias that is another model's id",
      { models: [{ id: "gpt-5", aliases: ["gpt-4o"] }] },
      'key "models[0].aliases[0]": "gpt-4o" is the id of a model; choose another alias',
    ],
    [
      "an alias that says a provider",
      { compatible: { local: { models: [{ id: "q", aliases: ["local/r"] }] } } },
      'key "provider.compatible.local.models[0].aliases[0]": an alias cannot begin with local/; choose another',
    ],
    [
      "one model twice",
      { models: [{ id: "opus" }, { id: "anthropic/claude-opus-5-5" }] },
      'key "models[1]": claude-opus-5-5 is set by models[0] already; keep one of them',
    ],
    [
      "one listed model twice",
      { compatible: { local: { models: ["q", q] } } },
      'key "provider.compatible.local.models[1]": local/q is set by provider.compatible.local.models[0] already; keep one of them',
    ],
    [
      "a model of a server with a dot in its name",
      { compatible: { "my.box": { models: ["q", "q"] } } },
      'key "provider.compatible["my.box"].models[1]": my.box/q is set by provider.compatible["my.box"].models[0] already; keep one of them',
    ],
    [
      "a script",
      { models: [{ id: "scripted/a.json" }] },
      'key "models[0].id": scripted/a.json is a script, which has no settings; remove it',
    ],
    [
      "a provider that is not configured",
      { ...SERVERS, models: [{ id: "q", provider: "lokal" }] },
      'key "models[0].provider": no server called "lokal" is configured (servers: local, work); add provider.compatible.lokal to your configuration, or correct the name',
    ],
    [
      "a server that is not configured",
      { models: [{ id: "local/q" }] },
      'key "models[0].id": no server called "local" is configured (there are none); add provider.compatible.local to your configuration, or correct the name',
    ],
    [
      "a model that could be anybody's",
      { ...SERVERS, models: [{ id: "llama" }] },
      'key "models[0].id": the provider of the model "llama" is unknown; add "provider", one of "anthropic", "openai", "local", "work"',
    ],
    [
      "an id and a provider that contradict each other",
      { models: [{ id: "openai/gpt-5", provider: "anthropic" }] },
      'key "models[0].provider": the id openai/gpt-5 already says openai',
    ],
    [
      "an answer longer than the window",
      { models: [{ id: "gpt-5", contextWindow: 1_000, maxOutputTokens: 1_001 }] },
      'key "models[0].maxOutputTokens": 1001 tokens are more than its window of 1000',
    ],
    [
      "an answer longer than a window that nobody said",
      { compatible: { local: { models: [{ id: "q", maxOutputTokens: 40_000 }] } } },
      'key "provider.compatible.local.models[0].maxOutputTokens": 40000 tokens are more than its window of 32768; set its contextWindow too',
    ],
  ];

  test.each(cases)("%s", (_, settings, problem) => {
    expect(problemOf(settings)).toBe(problem);
  });
});

test("without settings the catalog is the known models", async () => {
  const { find, resolve, list } = await loadModelCatalog({ models: undefined });
  expect(list()).toBe(KNOWN_MODELS);
  expect(find("sonnet")).toBe(findKnownModel("claude-sonnet-5-5"));
  expect(resolve("llama")).toEqual(resolveModel("llama"));
  expect((await loadModelCatalog({ models: [] })).list()).toEqual(KNOWN_MODELS);
});

test("the reader of settings is loaded only if there are some", () => {
  const source = readFileSync(join(import.meta.dir, "../../src/provider/models.ts"), "utf8");
  expect(new Bun.Transpiler({ loader: "ts" }).scanImports(source)).toEqual([
    { path: "./models/known-models.ts", kind: "import-statement" },
    { path: "./models/catalog.ts", kind: "dynamic-import" },
  ]);
});

function bound(settings: CatalogSettings) {
  const catalog = createModelCatalog(settings);
  return {
    find: (id: string) => catalog.find(id),
    resolve: (id: string) => catalog.resolve(id),
    list: () => catalog.list(),
  };
}

function rank(provider: string): number {
  return ["anthropic", "openai", "local", "work"].indexOf(provider);
}
