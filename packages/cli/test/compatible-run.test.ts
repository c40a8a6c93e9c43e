import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type SseServer, startSseServer } from "../../core/test/support/sse-server.ts";
import { compatibleReply, writeUserConfig } from "./support/compatible-service.ts";
import { parseLines, runDiligent } from "./support/run-diligent.ts";
import { callAnswer } from "./support/service-answers.ts";
import { said, savedLines, savedMessages } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, OPENAI_SERVICE, wholeReply } from "./support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const READING = { id: "call_1", name: "read", input: { file_path: "a.txt" } };

function configure({ url }: SseServer, more: object = {}): void {
  const local = { baseUrl: `${url}/v1`, ...more };
  writeUserConfig(place, { provider: { compatible: { local } } });
}

describe("a model of a compatible server", () => {
  test("holds a conversation with tools, under the name that the server knows", async () => {
    place.write("a.txt", "the content");
    await using server = await startSseServer(
      compatibleReply({ text: "", calls: [READING] }),
      compatibleReply({ text: "It says: the content" }),
    );
    configure(server, { models: ["qwen3:8b"] });
    const { stdout, stderr, exitCode } = await runDiligent(place, [
      "-p",
      "-m",
      "local/qwen3:8b",
      "read a.txt",
    ]);
    expect([stdout, exitCode, server.problems]).toEqual(["It says: the content\n", 0, []]);
    expect(stderr).toContain("a.txt");
    expect(server.requests.map(({ path, body }) => [path, fieldOf(body, "model")])).toEqual([
      ["/v1/chat/completions", "qwen3:8b"],
      ["/v1/chat/completions", "qwen3:8b"],
    ]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("the content");
    expect(said(savedMessages(place))).toEqual([
      "user: read a.txt",
      "assistant:",
      expect.stringContaining("the content"),
      "assistant: It says: the content",
    ]);
    expect(savedMessages(place)[1]?.model).toBe("local/qwen3:8b");
  });

  test("works without being listed, with conservative limits and an unknown price", async () => {
    await using server = await startSseServer(compatibleReply({ text: "Hello." }));
    configure(server);
    const args = ["-p", "-m", "local/org/any-model", "hi", "--output-format", "json"];
    const { stdout } = await runDiligent(place, args);
    expect(JSON.parse(stdout)).toMatchObject({ result: "Hello.", cost: null });
    expect(server.requests[0]?.body).toMatchObject({ model: "org/any-model", max_tokens: 8_192 });
  });

  test("is found by an alias, respects its limits, and costs what is configured", async () => {
    await using server = await startSseServer(compatibleReply({ text: "Hello." }));
    const limits = { contextWindow: 65_536, maxOutputTokens: 2_048 };
    const price = { inputCostPer1M: 100, outputCostPer1M: 200 };
    configure(server, { models: [{ id: "qwen3", aliases: ["q"], ...limits, ...price }] });
    const { stdout } = await runDiligent(place, ["-p", "-m", "q", "hi", "--output-format", "json"]);
    // Ten input tokens, five output tokens.
    expect(JSON.parse(stdout)).toMatchObject({ result: "Hello.", cost: 0.002 });
    expect(server.requests[0]?.body).toMatchObject({ model: "qwen3", max_tokens: 2_048 });
  });

  test("is requested with the server's own key and no other", async () => {
    await using server = await startSseServer(compatibleReply({ text: "Hello." }));
    const environment = { OPENAI_API_KEY: "openai-key", LOCAL_KEY: "local-key" };
    const run = () => runDiligent(place, ["-p", "-m", "local/m", "hi"], { environment });
    configure(server, { apiKey: "{env:LOCAL_KEY}" });
    expect((await run()).exitCode).toBe(0);
    configure(server);
    expect((await run()).exitCode).toBe(0);
    const [first, second] = server.requests.map(({ headers }) => headers.authorization);
    expect(first).toBe("Bearer local-key");
    expect(second).not.toContain("key");
  });
});

describe("an untrusted project", () => {
  test("cannot choose a server, neither its own nor the user's", async () => {
    await using server = await startSseServer(compatibleReply({ text: "Hello." }));
    configure(server, { models: [{ id: "m", aliases: ["mine"] }] });
    const evil = { baseUrl: `${server.url}/v1` };
    for (const model of ["evil/m", "local/m", "mine"]) {
      place.write("diligent.json", { model, provider: { compatible: { evil } } });
      const { stderr, exitCode } = await runDiligent(place, ["-p", "hi"]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/No API key: set ANTHROPIC_API_KEY/);
    }
    place.write("diligent.json", { provider: { compatible: { evil } } });
    expect((await runDiligent(place, ["-p", "-m", "evil/m", "hi"])).stderr).toContain(
      'Unknown model "evil/m": no server called evil is configured (servers: local).',
    );
    expect(server.requests).toEqual([]);
  });
});

describe("a session", () => {
  test("continues with another provider, with its thinking and its tool calls", async () => {
    place.write("a.txt", "the content");
    const thinking = { text: "I should read it.", signature: "signed" };
    await using anthropic = await startSseServer(
      { events: callAnswer({ ...READING, thinking }) },
      wholeReply(ANTHROPIC_SERVICE, { text: "first" }),
      wholeReply(ANTHROPIC_SERVICE, { text: "fourth" }),
    );
    const openaiCall = { ...READING, id: "call_2" };
    await using openai = await startSseServer(
      wholeReply(OPENAI_SERVICE, { text: "Reading.", calls: [openaiCall] }),
      wholeReply(OPENAI_SERVICE, { text: "second" }),
    );
    const localCall = { ...READING, id: "call_1" };
    await using local = await startSseServer(
      compatibleReply({ text: "Again.", calls: [localCall] }),
      compatibleReply({ text: "third" }),
    );
    configure(local);
    const environment = {
      ...environmentFor(ANTHROPIC_SERVICE, anthropic.url),
      ...environmentFor(OPENAI_SERVICE, openai.url),
    };
    const say = async (model: string, ...args: string[]) => {
      const { stdout, exitCode } = await runDiligent(place, ["-p", "-m", model, ...args], { environment });
      return [stdout, exitCode];
    };
    expect(await say("claude-sonnet-5", "one")).toEqual(["first\n", 0]);
    expect(await say("gpt-5.4", "-c", "two")).toEqual(["second\n", 0]);
    expect(await say("local/m", "-c", "three")).toEqual(["third\n", 0]);
    expect(await say("claude-sonnet-5", "-c", "four")).toEqual(["fourth\n", 0]);
    expect([anthropic.problems, openai.problems, local.problems]).toEqual([[], [], []]);
    const last = JSON.stringify(anthropic.requests.at(-1)?.body);
    expect(last).toMatch(/one.*the content.*first.*two.*second.*three.*third.*four/);
    expect(
      savedLines(place).flatMap(({ type, modelId }) => (type === "model_change" ? [modelId] : [])),
    ).toEqual([...["gpt-5.4", "local/m", "claude-sonnet-5"]]);
    const { stdout } = await runDiligent(place, ["sessions", "show", "1", "--entries"]);
    expect(stdout.match(/(?<= model: )\S+/g)).toEqual([
      "openai/gpt-5.4",
      "local/m",
      "anthropic/claude-sonnet-5",
    ]);
  });

  test("that used a server continues with it, and says so if it is no longer configured", async () => {
    await using server = await startSseServer(compatibleReply({ text: "Hello." }));
    configure(server);
    await runDiligent(place, ["-p", "-m", "local/m", "one"]);
    expect((await runDiligent(place, ["-p", "-c", "two"])).stdout).toBe("Hello.\n");
    expect(server.requests).toHaveLength(2);
    writeUserConfig(place, {});
    await using anthropic = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "Instead." }));
    const environment = environmentFor(ANTHROPIC_SERVICE, anthropic.url);
    const args = ["-p", "-c", "three", "--output-format", "stream-json"];
    const notices = parseLines((await runDiligent(place, args, { environment })).stdout);
    expect(notices.find(({ code }) => code === "other_model")?.message).toStartWith(
      'The session used local/m: Unknown model "local/m": no server called local is configured (there is none).',
    );
  });
});

function fieldOf(body: unknown, field: "model"): unknown {
  return typeof body === "object" && body !== null && field in body ? body[field] : undefined;
}
