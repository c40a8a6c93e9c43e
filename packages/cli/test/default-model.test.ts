import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { startSseServer } from "../../core/test/support/sse-server.ts";
import { writeUserConfig } from "./support/compatible-service.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { ANTHROPIC_SERVICE, OPENAI_SERVICE, wholeReply } from "./support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const openai = () => startSseServer(wholeReply(OPENAI_SERVICE, { text: "Sol speaks." }));
const keyOf = (url: string) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` });
const NOTICE =
  'Using gpt-6.2-sol, because there is a key for openai and none for anthropic. Choose another model with -m or "model" in your configuration.';

describe("with a key for OpenAI only", () => {
  test("its default model is used, with one notice", async () => {
    await using server = await openai();
    const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", "hi"], {
      environment: keyOf(server.url),
    });
    expect([stdout, stderr, exitCode]).toEqual(["Sol speaks.\n", `${NOTICE}\n`, 0]);
    expect(server.requests.map(({ body }) => body)).toEqual([
      expect.objectContaining({ model: "gpt-6.2-sol" }),
    ]);
  });

  test("a key in the user's configuration counts like one in the environment", async () => {
    await using server = await openai();
    const openaiSettings = { apiKey: "key", baseUrl: `${server.url}/v1` };
    writeUserConfig(place, { provider: { openai: openaiSettings } });
    const { stdout } = await runDiligent(place, ["-p", "hi"]);
    expect(stdout).toBe("Sol speaks.\n");
  });

  test.each([
    ["-m", ["-m", "sonnet"], {}],
    ["DILIGENT_MODEL", [], { DILIGENT_MODEL: "sonnet" }],
  ])("a model named by %s takes precedence, even without a key", async (_, args, environment) => {
    await using server = await openai();
    const run = await runDiligent(place, ["-p", "hi", ...args], {
      environment: { ...keyOf(server.url), ...environment },
    });
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining("set ANTHROPIC_API_KEY")]);
    expect(server.requests).toEqual([]);
  });

  test("a configured model takes precedence without a notice", async () => {
    await using server = await openai();
    writeUserConfig(place, { model: "gpt-5.4" });
    const { stdout, stderr } = await runDiligent(place, ["-p", "hi"], { environment: keyOf(server.url) });
    expect([stdout, stderr]).toEqual(["Sol speaks.\n", ""]);
    expect(server.requests[0]?.body).toMatchObject({ model: "gpt-5.4" });
  });

  test("doctor names the same model and the reason", async () => {
    const run = await runDiligent(place, ["doctor", "--json", "--offline"], {
      environment: { OPENAI_API_KEY: "key" },
    });
    const { checks } = JSON.parse(run.stdout);
    expect(checks).toContainEqual({
      name: "model",
      status: "ok",
      message: "gpt-6.2-sol (openai): there is a key for openai and none for anthropic",
    });
    expect(checks).toContainEqual({ name: "key", status: "ok", message: "found for openai" });
  });
});

test("with both keys, the usual model is used without a notice", async () => {
  await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Claude speaks." }));
  const environment = { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: server.url, OPENAI_API_KEY: "key" };
  const { stdout, stderr } = await runDiligent(place, ["-p", "hi"], { environment });
  expect([stdout, stderr]).toEqual(["Claude speaks.\n", ""]);
  expect(server.requests[0]?.body).toMatchObject({ model: "claude-sonnet-5-5" });
});

test("with only a key for a compatible server, the first model that it lists is used", async () => {
  const models = ["qwen3", "other"];
  writeUserConfig(place, {
    provider: { compatible: { work: { baseUrl: "https://models.example/v1", apiKey: "key", models } } },
  });
  const { stdout } = await runDiligent(place, ["doctor", "--json", "--offline"]);
  expect(JSON.parse(stdout).checks).toContainEqual({
    name: "model",
    status: "ok",
    message: "work/qwen3 (work): there is a key for work and none for anthropic",
  });
});
