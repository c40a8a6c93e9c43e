import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runModels } from "../src/commands/models.ts";
import { writeUserConfig } from "./support/compatible-service.ts";
import { FakeIo } from "./support/fake-io.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

async function models(args: string[] = [], environment: Record<string, string> = {}): Promise<FakeIo> {
  const io = new FakeIo();
  io.cwd = place.project;
  io.environment = { HOME: place.home, ...environment };
  expect(await runModels(args, io)).toBe(0);
  return io;
}

const lineOf = (text: string, id: string) => text.split("\n").find((line) => line.includes(` ${id} `));

const LONG_ID = "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8";

const SERVERS = {
  local: {
    baseUrl: "http://me:secret@localhost:11434/v1?key=secret",
    models: ["qwen3", { id: LONG_ID, contextWindow: 131_072, aliases: ["maverick"] }],
  },
  work: { baseUrl: "https://models.example/v1", apiKey: "work-key" },
};

describe("diligent models", () => {
  test("shows the figures of every known model, in at most 80 columns", async () => {
    const { text } = (await models()).stdout;
    expect(text.split("\n").filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
    expect(lineOf(text, "claude-opus-5-5")).toBe(
      "   claude-opus-5-5                 1M    128k  4/20      always   opus,",
    );
    expect(lineOf(text, "gpt-4o-mini")).toBe(
      "   gpt-4o-mini                   128k   16.4k  0.15/0.6  none     4o-mini",
    );
    expect(lineOf(text, "gpt-5.6-sol")).toMatch(/ 1\.05M +128k +unknown +adaptive gpt-5\.6$/);
    expect(lineOf(text, "claude-mythos-preview")).toMatch(/ unknown unknown +unknown +adaptive$/);
  });

  test("marks the default, and shows which providers have no key", async () => {
    const { text } = (await models([], {})).stdout;
    expect(text).toContain("\nanthropic (no key: set ANTHROPIC_API_KEY)\n * claude-sonnet-5-5 ");
    expect(text).toContain("\nopenai (no key: set OPENAI_API_KEY)\n   gpt-");
    expect(text).toContain("\n* default, used here\n");
    expect(text).not.toContain(">");
  });

  test("marks the default model of OpenAI if only OpenAI has a key", async () => {
    const { text } = (await models([], { OPENAI_API_KEY: "key" })).stdout;
    expect(lineOf(text, "gpt-6.2-sol")).toStartWith(" * gpt-6.2-sol ");
    expect(lineOf(text, "claude-sonnet-5-5")).toStartWith("   claude-sonnet-5-5 ");
  });

  test("marks the model configured by an alias and shows the source of the setting", async () => {
    const path = place.write("diligent.jsonc", { model: "opus" });
    const { text } = (await models()).stdout;
    expect(text).toContain("\n>  claude-opus-5-5 ");
    expect(text).toContain("\n * claude-sonnet-5-5 ");
    expect(text).toContain(`\n* default\n> configured: opus (${path})\n`);
  });

  test("lists the servers with their addresses and models, and none of their secrets", async () => {
    writeUserConfig(place, { model: "work/any", provider: { compatible: SERVERS } });
    const { text } = (await models()).stdout;
    const servers = text.slice(text.indexOf("\nlocal"), text.indexOf("* default"));
    expect(servers).toBe(
      [
        "",
        "local (http://localhost:11434/v1, no key)",
        "   local/qwen3                unknown unknown  unknown   none",
        `   local/${LONG_ID}`,
        "                               131.1k unknown  unknown   none     maverick",
        "",
        "work (https://models.example/v1)",
        ">  work/any                   unknown unknown  unknown   none",
        "",
        "",
      ].join("\n"),
    );
    expect(text).not.toMatch(/secret|work-key/);
    expect(text.split("\n").filter((line) => line.length > 80 && !line.startsWith("> "))).toEqual([]);
  });

  test("explains how to use a server without listed models", async () => {
    writeUserConfig(place, { provider: { compatible: { work: SERVERS.work } } });
    expect((await models()).stdout.text).toContain(
      "\nwork (https://models.example/v1)\n   no models are listed; any works as work/MODEL\n",
    );
  });

  test("shows corrected and added models", async () => {
    writeUserConfig(place, {
      models: [
        { id: "gpt-4o", contextWindow: 64_000, inputCostPer1M: 0.075, aliases: ["mine"] },
        { id: "claude-next" },
        { id: "half", provider: "openai", outputCostPer1M: 3 },
      ],
    });
    const { text } = (await models()).stdout;
    expect(lineOf(text, "gpt-4o")).toMatch(/ 64k +16\.4k +0\.075\/10 +none +4o, mine$/);
    expect(lineOf(text, "claude-next")).toMatch(/ unknown +unknown +unknown +unknown$/);
    expect(lineOf(text, "half")).toMatch(/ unknown +unknown +\?\/3 +unknown$/);
  });

  test("shows a configured model that is known only by its prefix, and warns about an unknown one", async () => {
    const known = await models([], { DILIGENT_MODEL: "claude-future-9" });
    expect(lineOf(known.stdout.text, "claude-future-9")).toMatch(/^> .* unknown unknown +unknown +unknown$/);
    const unknown = await models([], { DILIGENT_MODEL: "claud" });
    expect(unknown.stderr.text).toStartWith('warning: key "model": Unknown model "claud".');
    expect(unknown.stdout.text).toContain("\n> configured: claud (");
    const script = await models([], { DILIGENT_MODEL: "scripted/a.json" });
    expect([script.stderr.text, script.stdout.text]).toEqual([
      "",
      expect.stringContaining("scripted/a.json ("),
    ]);
  });

  test("writes no escape sequence, whatever the configuration contains", async () => {
    const models_ = ["a\u001b[31mb", { id: "c\nd", aliases: ["\u009b2J"] }];
    writeUserConfig(place, { provider: { compatible: { local: { ...SERVERS.local, models: models_ } } } });
    const { stdout } = await runDiligent(place, ["models"]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(stdout).toContain("local/c d ");
  });
});

describe("diligent models --json", () => {
  test("lists the same facts, with null for unknown ones", async () => {
    writeUserConfig(place, { model: "work/any", provider: { compatible: SERVERS } });
    const list: Record<string, unknown>[] = JSON.parse((await models(["--json"])).stdout.text);
    const find = (id: string) => list.find((model) => model.id === id);
    expect(find("gpt-4o-mini")).toEqual({
      id: "gpt-4o-mini",
      provider: "openai",
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      inputCostPer1M: 0.15,
      outputCostPer1M: 0.6,
      cacheReadCostPer1M: 0.075,
      cacheWriteCostPer1M: null,
      thinking: "none",
      aliases: ["4o-mini"],
      isDefault: false,
      isConfigured: false,
      hasKey: false,
    });
    expect(find("work/any")).toEqual({
      ...{ id: "work/any", provider: "work", contextWindow: null, maxOutputTokens: null },
      ...{ inputCostPer1M: null, outputCostPer1M: null, cacheReadCostPer1M: null, cacheWriteCostPer1M: null },
      ...{ thinking: "none", aliases: [], isDefault: false, isConfigured: true, hasKey: true },
    });
    expect(list.filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual(["claude-sonnet-5-5"]);
  });
});

describe("the models command", () => {
  test("is on the program's help page", async () => {
    expect((await runDiligent(place, ["--help"])).stdout).toContain("diligent models");
  });

  test("accepts no words and no other options", async () => {
    const word = await runDiligent(place, ["models", "gpt"]);
    expect([word.stderr, word.exitCode]).toEqual(["diligent: models takes no arguments: gpt\n", 2]);
    const option = await runDiligent(place, ["models", "--jsno"]);
    expect([option.stderr, option.exitCode]).toEqual([
      "diligent: models: unknown option --jsno (did you mean --json?)\n",
      2,
    ]);
  });

  test("fails like a run if the settings of models are invalid", async () => {
    writeUserConfig(place, { models: [{ id: "llama" }] });
    const { stderr, exitCode } = await runDiligent(place, ["models"]);
    expect([stderr, exitCode]).toEqual([
      'diligent: key "models[0].id": the provider of the model "llama" is unknown; add "provider", one of "anthropic", "openai"\n',
      2,
    ]);
  });

  test("omits and reports what an untrusted project adds", async () => {
    place.write("diligent.json", { models: [{ id: "gpt-4o", contextWindow: 1 }] });
    const { stdout, stderr } = await models();
    expect(stderr.text).toMatch(/^warning: .*models/);
    expect(lineOf(stdout.text, "gpt-4o")).toContain(" 128k ");
  });
});
