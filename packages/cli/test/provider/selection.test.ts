import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openModel } from "@diligent/core/harness";
import { type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { writeUserConfig } from "../support/compatible-service.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, OPENAI_SERVICE, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** Both services at once, each with its key, and no model from the environment. */
async function withServices<T>(run: (services: Services) => Promise<T>): Promise<T> {
  await using anthropic = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "From Anthropic." }));
  await using openai = await startSseServer(wholeReply(OPENAI_SERVICE, { text: "From OpenAI." }));
  const environment = {
    ...environmentFor(ANTHROPIC_SERVICE, anthropic.url),
    ...environmentFor(OPENAI_SERVICE, openai.url),
    DILIGENT_MODEL: undefined,
  };
  return await run({ anthropic, openai, environment });
}

interface Services {
  anthropic: SseServer;
  openai: SseServer;
  environment: Record<string, string | undefined>;
}

const modelsOf = ({ requests }: SseServer) =>
  requests.map(({ body }) => JSON.stringify(body).match(/"model":"([^"]+)"/)?.[1]);

describe("the provider", () => {
  test("is that of the configured model, and changes with the configuration", () =>
    withServices(async ({ anthropic, openai, environment }) => {
      place.write("diligent.jsonc", '{ "model": "gpt-4o" }');
      const first = await runDiligent(place, ["-p", "hello"], { environment });
      place.write("diligent.jsonc", '{ "model": "claude-sonnet-4-20250514" }');
      const second = await runDiligent(place, ["-p", "hello"], { environment });
      expect([first.stdout, second.stdout]).toEqual(["From OpenAI.\n", "From Anthropic.\n"]);
      expect([modelsOf(openai), modelsOf(anthropic)]).toEqual([["gpt-4o"], ["claude-sonnet-4-20250514"]]);
    }));

  test.each([
    ["claude-future-9", "anthropic"],
    ["gpt-99-future", "openai"],
    ["o9-future", "openai"],
    ["openai/future", "openai"],
  ] as const)("of the unknown model %s is derived from its prefix: %s", (model, provider) =>
    withServices(async (services) => {
      const { exitCode } = await runDiligent(place, ["-p", "-m", model, "hi"], services);
      expect(exitCode).toBe(0);
      expect(modelsOf(services[provider])).toEqual([model.replace(/^openai\//, "")]);
    }),
  );

  test("needs its own key: the error names the variable, whatever other keys exist", async () => {
    const run = (model: string, environment: Record<string, string>) =>
      runDiligent(place, ["-p", "-m", model, "hi"], { environment });
    const openai = await run("gpt-4o", { ANTHROPIC_API_KEY: "key" });
    expect([openai.exitCode, openai.stderr]).toEqual([2, expect.stringContaining("set OPENAI_API_KEY")]);
    const anthropic = await run("sonnet", { OPENAI_API_KEY: "key" });
    expect([anthropic.exitCode, anthropic.stderr]).toEqual([
      2,
      expect.stringContaining("set ANTHROPIC_API_KEY"),
    ]);
  });

  test("of a model added by settings is the one in the settings", () =>
    withServices(async ({ openai, environment }) => {
      writeUserConfig(place, { models: [{ id: "tuned", provider: "openai", aliases: ["mine"] }] });
      expect((await runDiligent(place, ["-p", "-m", "mine", "hi"], { environment })).stdout).toBe(
        "From OpenAI.\n",
      );
      expect(modelsOf(openai)).toEqual(["tuned"]);
    }));
});

describe("a model of no provider is refused before anything is sent", () => {
  const local = { baseUrl: "http://127.0.0.1:9/v1", models: ["qwen3", { id: "q", aliases: ["quick"] }] };

  test.each([
    ["sonet", '"sonet". Did you mean sonnet?'],
    ["quik", '"quik". Did you mean quick?'],
    ["loca", '"loca". Did you mean local/MODEL?'],
    ["qwen3", '"qwen3". Did you mean local/qwen3?'],
    ["local", '"local": local is a server; name one of its models, as in local/qwen3.'],
    ["local/", '"local/": the model after the slash is missing, as in local/qwen3.'],
    ["openai/", '"openai/": the model after the slash is missing, as in openai/gpt-'],
    [
      "lokal/x",
      '"lokal/x": no server called lokal is configured (servers: local). Did you mean local/x? To add it, set provider.compatible.lokal.baseUrl in your own configuration.',
    ],
    ["my models/x.json", '"my models/x.json". Run diligent models for a list.'],
    ["\x1b[31m/x", '"\\u001b[31m/x". Run diligent models for a list.'],
  ])("%j", async (model, problem) => {
    writeUserConfig(place, { provider: { compatible: { local } } });
    const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", "-m", model, "hi"]);
    expect([stdout, exitCode]).toEqual(["", 2]);
    expect(stderr).toStartWith(`diligent: Unknown model ${problem}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("invalid settings of models are reported with their key", async () => {
    writeUserConfig(place, { models: [{ id: "gpt-5", aliases: ["gpt-4o"] }] });
    const { stderr, exitCode } = await runDiligent(place, ["-p", "-m", "gpt-5", "hi"]);
    expect([stderr, exitCode]).toEqual([
      'diligent: key "models[0].aliases[0]": "gpt-4o" is the id of a model; choose another alias\n',
      2,
    ]);
  });
});

describe("a second model, for summaries,", () => {
  const config = {
    provider: { anthropic: { apiKey: "key" }, compatible: { local: { baseUrl: "http://localhost:9/v1" } } },
    models: [{ id: "local/small", aliases: ["small"], contextWindow: 16_384 }],
  };

  test("is opened by id or alias from any of the providers", async () => {
    const ids = ["haiku", "small", "local/other"].map(
      async (id) => (await openModel(id, { cwd: "/", config })).model.id,
    );
    expect(await Promise.all(ids)).toEqual(["claude-haiku-5-5", "local/small", "local/other"]);
    expect((await openModel("small", { cwd: "/", config })).model).toMatchObject({
      provider: "local",
      contextWindow: 16_384,
      maxOutputTokens: 4_096,
    });
  });

  test.each([
    ["gpt-4o", "No API key: set OPENAI_API_KEY"],
    ["smal", 'Unknown model "smal". Did you mean small?'],
    ["scripted/none.json", ""],
  ])("that cannot be opened is reported with the setting's key: %s", async (id, problem) => {
    const opening = openModel(id, { cwd: place.project, config });
    await expect(opening).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`key "compaction.model": ${problem}`),
    });
  });
});
