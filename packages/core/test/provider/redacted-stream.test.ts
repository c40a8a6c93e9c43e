import { expect, test } from "bun:test";
import { SecretRedactor } from "../../src/infrastructure/text/secret-redactor.ts";
import { ProviderError } from "../../src/provider/errors.ts";
import { withRedaction } from "../../src/provider/redacted-stream.ts";
import { createScriptedStream, scriptedModel } from "../../src/provider/scripted.ts";
import {
  createProviderStream,
  type ProviderEvent,
  type StreamContext,
  type StreamFunction,
} from "../../src/provider/types.ts";
import { user } from "../support/agent-run.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const redactor = new SecretRedactor([{ value: KEY, placeholder: "[key of anthropic]" }]);
const model = scriptedModel("test.json", { version: 1, turns: [] });
const context: StreamContext = { systemPrompt: "Test.", messages: [user("go")], tools: [] };

async function eventsOf(streamFunction: StreamFunction, asked = context): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  const stream = withRedaction(streamFunction, redactor)(model, asked, {});
  await stream.consume((event) => events.push(event)).catch(() => {});
  return events;
}

test.each([1, 2, 5, 13, 1000])("a key in a reply in pieces of %d reaches no event", async (chunkChars) => {
  const script = {
    version: 1 as const,
    turns: [
      {
        thinking: `I know ${KEY}.`,
        text: `It is ${KEY}!`,
        toolCalls: [{ id: "call_1", name: "bash", input: { command: `echo ${KEY}` } }],
        chunkChars,
      },
    ],
  };
  const events = await eventsOf(createScriptedStream(script));
  expect(JSON.stringify(events)).not.toContain(KEY.slice(0, 20));
  const joined = (type: ProviderEvent["type"]) =>
    events.map((event) => (event.type === type && "delta" in event ? event.delta : "")).join("");
  expect(joined("thinking_delta")).toBe("I know [key of anthropic].");
  expect(joined("text_delta")).toBe("It is [key of anthropic]!");
  expect(JSON.parse(joined("tool_call_delta"))).toEqual({ command: "echo [key of anthropic]" });
  const last = events.at(-1);
  expect(last?.type === "done" && last.message.content).toMatchObject([
    { type: "thinking", thinking: "I know [key of anthropic]." },
    { type: "text", text: "It is [key of anthropic]!" },
    { type: "tool_call", input: { command: "echo [key of anthropic]" } },
  ]);
});

test("a request has no key in its prompt, messages and tools", async () => {
  const asked: StreamContext[] = [];
  const noting: StreamFunction = (_model, received) => {
    asked.push(received);
    const stream = createProviderStream();
    stream.push({ type: "error", error: new ProviderError("No.", "unknown") });
    return stream;
  };
  const tool = { name: "t", description: `Knows ${KEY}`, inputSchema: {} };
  await eventsOf(noting, { systemPrompt: `Prompt ${KEY}`, messages: [user(KEY)], tools: [tool] });
  expect(asked).toEqual([
    {
      systemPrompt: "Prompt [key of anthropic]",
      messages: [user("[key of anthropic]")],
      tools: [{ ...tool, description: "Knows [key of anthropic]" }],
    },
  ]);
});

test("an error keeps its kind and its numbers and loses the key, its cause included", async () => {
  const failing: StreamFunction = () => {
    const stream = createProviderStream();
    const details = { statusCode: 401, retryAfterMs: 5, cause: new Error(KEY) };
    stream.push({ type: "error", error: new ProviderError(`Incorrect key: ${KEY}`, "auth", details) });
    return stream;
  };
  const [event] = await eventsOf(failing);
  const error = event?.type === "error" ? event.error : undefined;
  expect(error).toMatchObject({ errorType: "auth", statusCode: 401, retryAfterMs: 5 });
  expect(Bun.inspect(error)).toContain("Incorrect key: [key of anthropic]");
  expect(Bun.inspect(error)).not.toContain(KEY);
});
