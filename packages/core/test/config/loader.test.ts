import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeConfig, loadDiligentConfig } from "../../src/config/loader.ts";
import { DEFAULT_CONFIG, mergeConfig } from "../../src/config/settings.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";

describe("loadDiligentConfig", () => {
  test("without files and variables the defaults apply", async () => {
    const { project, environment } = makeConfigPlace();
    const loaded = await loadDiligentConfig(project, environment);
    expect(loaded.config).toEqual(DEFAULT_CONFIG);
    expect(loaded.sources).toEqual([]);
    expect(loaded.warnings).toEqual([]);
    expect(loaded.trust).toBe("none");
    expect(new Set(Object.values(loaded.origins))).toEqual(new Set(["default"]));
  });

  test("the project's file overrides the user's, and the environment overrides both", async () => {
    const place = makeConfigPlace({ DILIGENT_MODEL: "o3", ANTHROPIC_API_KEY: "from-env" });
    put(place.userFile, {
      model: "claude-opus-5",
      maxTurns: 5,
      provider: { anthropic: { apiKey: "from-file", baseUrl: "https://proxy.example" } },
      compaction: { pruning: { keepLast: 4 } },
    });
    put(place.projectFile, { model: "gpt-4o", maxTurns: 9, compaction: { pruning: { softTrimHead: 10 } } });
    const { config, sources, origins } = await loadDiligentConfig(place.project, place.environment);
    expect(config).toEqual({
      ...DEFAULT_CONFIG,
      model: "o3",
      maxTurns: 9,
      provider: { anthropic: { apiKey: "from-env", baseUrl: "https://proxy.example" } },
      compaction: {
        ...DEFAULT_CONFIG.compaction,
        pruning: { ...DEFAULT_CONFIG.compaction?.pruning, keepLast: 4, softTrimHead: 10 },
      },
    });
    expect(sources).toEqual([place.userFile, place.projectFile]);
    expect(origins).toMatchObject({
      model: "environment DILIGENT_MODEL",
      maxTurns: place.projectFile,
      "provider.anthropic.apiKey": "environment ANTHROPIC_API_KEY",
      "provider.anthropic.baseUrl": place.userFile,
      "compaction.pruning.keepLast": place.userFile,
      "compaction.pruning.softTrimHead": place.projectFile,
      "compaction.pruning.softTrimTail": "default",
    });
  });

  test("comments, trailing commas and a byte order mark are accepted; diligent.json is read too", async () => {
    const place = makeConfigPlace();
    put(join(place.project, "diligent.json"), '\uFEFF{\r\n  // why\r\n  "maxTurns": 3, /* so */\r\n}\r\n');
    const { config, sources } = await loadDiligentConfig(place.project, place.environment);
    expect(config.maxTurns).toBe(3);
    expect(sources).toEqual([join(place.project, "diligent.json")]);
  });

  test("the project's file is the one in the repository's root, for every directory in it", async () => {
    const place = makeConfigPlace();
    const deep = join(place.project, "a", "b");
    mkdirSync(deep, { recursive: true });
    put(place.projectFile, { maxTurns: 3 });
    put(join(deep, "diligent.jsonc"), { maxTurns: 4 });
    const loaded = await loadDiligentConfig(deep, place.environment);
    expect(loaded.config.maxTurns).toBe(3);
    expect(loaded.projectRoot).toBe(place.project);
  });

  test("XDG_CONFIG_HOME names the user's directory; a relative one is ignored", async () => {
    const place = makeConfigPlace();
    put(join(place.home, "xdg", "diligent", "diligent.jsonc"), { maxTurns: 1 });
    put(place.userFile, { maxTurns: 2 });
    const load = async (XDG_CONFIG_HOME: string) =>
      (await loadDiligentConfig(place.project, { ...place.environment, XDG_CONFIG_HOME })).config.maxTurns;
    expect(await load(join(place.home, "xdg"))).toBe(1);
    expect(await load("xdg")).toBe(2);
    expect(await load("")).toBe(2);
  });

  test("instructions of all layers are kept in order and without duplicates; other lists are replaced", async () => {
    const place = makeConfigPlace();
    put(place.userFile, { instructions: ["a", "b"], models: [{ id: "x" }] });
    put(place.projectFile, { instructions: ["b", "c"] });
    const { config, origins } = await loadDiligentConfig(place.project, place.environment);
    expect(config.instructions).toEqual(["a", "b", "c"]);
    expect(origins.instructions).toBe(`${place.userFile}, ${place.projectFile}`);
  });

  test("empty variables count as unset, and surrounding spaces are removed", async () => {
    const place = makeConfigPlace({ ANTHROPIC_API_KEY: "", OPENAI_API_KEY: " k\n", DILIGENT_MODEL: "  " });
    const { config } = await loadDiligentConfig(place.project, place.environment);
    expect(config).toEqual({ ...DEFAULT_CONFIG, provider: { openai: { apiKey: "k" } } });
  });

  test("base URLs from the environment have to be valid addresses", async () => {
    const place = makeConfigPlace({ OPENAI_BASE_URL: "http://a/v1", ANTHROPIC_BASE_URL: "https://b" });
    const { config } = await loadDiligentConfig(place.project, place.environment);
    expect(config.provider).toEqual({
      openai: { baseUrl: "http://a/v1" },
      anthropic: { baseUrl: "https://b" },
    });
    await expect(
      loadDiligentConfig(place.project, { HOME: place.home, OPENAI_BASE_URL: "evil" }),
    ).rejects.toThrow("environment variable OPENAI_BASE_URL: must be an address such as https://host/v1");
  });

  test("the user's own directory as the project loads the user's file once", async () => {
    const place = makeConfigPlace();
    put(place.userFile, { provider: { openai: { baseUrl: "https://mine.example" } } });
    const { sources, warnings } = await loadDiligentConfig(join(place.userFile, ".."), place.environment);
    expect({ sources, warnings }).toEqual({ sources: [place.userFile], warnings: [] });
  });

  test("loading never changes the defaults", async () => {
    const before = structuredClone(DEFAULT_CONFIG);
    const { config } = await loadDiligentConfig(makeConfigPlace().project, { HOME: "/nowhere" });
    if (config.compaction?.pruning) config.compaction.pruning.keepLast = 99;
    expect(DEFAULT_CONFIG).toEqual(before);
  });
});

describe("{env:NAME}", () => {
  test("is replaced in the user's file, once and verbatim", async () => {
    const place = makeConfigPlace({ A: "1$&", B: "{env:A}" });
    put(place.userFile, {
      provider: { openai: { apiKey: "x{env:A}-{env: A }" } },
      systemPrompt: "{env:B} {env:}",
    });
    const { config, warnings } = await loadDiligentConfig(place.project, place.environment);
    expect(config.provider?.openai?.apiKey).toBe("x1$&-1$&");
    expect(config.systemPrompt).toBe("{env:A} {env:}");
    expect(warnings).toEqual([]);
  });

  test("an unset variable becomes empty, with one warning that names each", async () => {
    const place = makeConfigPlace();
    put(place.userFile, {
      provider: { openai: { apiKey: "{env:NO_KEY}" } },
      instructions: ["{env:NO_TEXT}", "{env:NO_KEY}{env:constructor}"],
    });
    const { config, warnings } = await loadDiligentConfig(place.project, place.environment);
    expect(config.provider?.openai?.apiKey).toBe("");
    expect(config.instructions).toEqual([""]);
    expect(warnings).toEqual([
      {
        code: "unset_variable",
        message: `${place.userFile}: unset environment variables count as empty: NO_KEY (in provider.openai.apiKey, instructions[1]), NO_TEXT (in instructions[0]), constructor (in instructions[1])`,
      },
    ]);
  });
});

describe("mergeConfig", () => {
  test("merges at any depth and changes neither side", () => {
    const base = {
      provider: { compatible: { a: { baseUrl: "http://a", apiKey: "k" } } },
      instructions: ["x"],
    };
    const override = {
      provider: { compatible: { a: { baseUrl: "http://b" }, constructor: { baseUrl: "http://c" } } },
    };
    const before = structuredClone({ base, override });
    expect(mergeConfig(base, override)).toEqual({
      provider: {
        compatible: { a: { baseUrl: "http://b", apiKey: "k" }, constructor: { baseUrl: "http://c" } },
      },
      instructions: ["x"],
    });
    expect({ base, override }).toEqual(before);
  });

  test("ignores undefined values of the later one", () => {
    expect(mergeConfig({ maxTurns: 3 }, { maxTurns: undefined })).toEqual({ maxTurns: 3 });
  });
});

describe("describeConfig", () => {
  test("lists every setting with its origin, and no key", async () => {
    const place = makeConfigPlace({
      ANTHROPIC_API_KEY: "sk-ant-secret",
      OPENAI_BASE_URL: "https://u:sk-pw@h/v1?k=sk-q",
    });
    put(place.userFile, {
      provider: { compatible: { a: { baseUrl: "http://a", apiKey: "sk-local" } } },
      maxTurns: 2,
      updateUrl: "https://registry.example/diligent/latest?token=sk-token",
    });
    const rows = describeConfig(await loadDiligentConfig(place.project, place.environment));
    expect(JSON.stringify(rows)).not.toContain("sk-");
    expect(rows.filter(({ origin }) => origin !== "default")).toEqual([
      { key: "maxTurns", value: 2, origin: place.userFile },
      { key: "provider.anthropic.apiKey", value: "********", origin: "environment ANTHROPIC_API_KEY" },
      { key: "provider.compatible.a.apiKey", value: "********", origin: place.userFile },
      { key: "provider.compatible.a.baseUrl", value: "http://a", origin: place.userFile },
      {
        key: "provider.openai.baseUrl",
        value: "https://********@h/v1?********",
        origin: "environment OPENAI_BASE_URL",
      },
      {
        key: "updateUrl",
        value: "https://registry.example/diligent/latest?********",
        origin: place.userFile,
      },
    ]);
    expect(rows.find(({ key }) => key === "model")).toEqual({
      key: "model",
      value: DEFAULT_CONFIG.model,
      origin: "default",
    });
  });
});
