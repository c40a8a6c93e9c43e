import { createAgent, type Model, type StreamFunction } from "@diligent/core";
import { createProviderStream, EMPTY_USAGE } from "@diligent/core/providers";

const model: Model = { id: "echo-1", provider: "echo", contextWindow: 32_000, maxOutputTokens: 1_000 };

// A real provider would send `context` to a server, push what arrives, and end with `error` on a failure.
const streamFunction: StreamFunction = (_model, context) => {
  const prompt = context.messages.findLast((message) => message.role === "user");
  const text = `You said: ${JSON.stringify(prompt?.content)}`;
  const stream = createProviderStream();
  stream.push({ type: "start" });
  stream.push({ type: "text_delta", delta: text });
  stream.push({ type: "text_end", text });
  const reply = { role: "assistant", model: model.id, usage: EMPTY_USAGE, timestamp: Date.now() } as const;
  const message = { ...reply, content: [{ type: "text" as const, text }], stopReason: "end_turn" as const };
  stream.push({ type: "done", stopReason: "end_turn", message });
  return stream;
};

const agent = await createAgent({ model: { model, streamFunction }, cwd: process.cwd() });
console.log((await agent.prompt(process.argv[2] ?? "Hello!")).text);
await agent.close();
