import { expect, test } from "bun:test";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { toCompatibleRequest } from "../../src/provider/chat-completions/request.ts";
import { toOpenAIInput } from "../../src/provider/openai/request.ts";
import { readMessage } from "../../src/session/parse-line.ts";
import type { Message, ToolResultMessage } from "../../src/types.ts";
import { noteTool, user } from "../support/agent-run.ts";
import { assistant, call, result } from "../support/messages.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { createSessionProject, note } from "../support/session-project.ts";

const FACTS = { outcome: "failed", metadata: { exitCode: 1, path: "/secret/place" } } as const;

test("what became of a call stands in the file, is told, and is there when the session is resumed", async () => {
  const project = await createSessionProject();
  const session = project.manager({
    agentConfig: {
      model: project.model,
      systemPrompt: "Test.",
      tools: [noteTool()],
      streamFunction: project.playing(note("a"), { text: "Done." }),
      approve: async () => ({ response: "reject", message: "So be it." }),
    },
  });
  const told: unknown[] = [];
  await session.run(user("go")).consume((event) => {
    if (event.type === "tool_end") told.push(event.outcome);
  });
  const isResult = (message: Message) => message.role === "tool_result";
  const saved = session.context.messages.find(isResult);
  expect([told, saved]).toMatchObject([["rejected"], { output: "So be it.", outcome: "rejected" }]);
  const resumed = project.manager();
  expect(await resumed.resume({ sessionId: session.sessionId })).toBe(true);
  expect(resumed.context.messages.find(isResult)).toEqual(saved);
});

test("no provider gets it: requests are the same bytes with and without it", () => {
  const history = (facts: Partial<ToolResultMessage>): Message[] => [
    user("go"),
    assistant([call("a"), call("b")]),
    result("a", "no", { isError: true, ...facts }),
    result("b", "yes", { metadata: { count: 3 } }),
    user("on"),
  ];
  const toRequests = (messages: Message[]) => {
    const context = { systemPrompt: "s", messages, tools: [READ_TOOL] };
    return JSON.stringify([
      toAnthropicRequest(TEST_MODEL, context),
      toCompatibleRequest({ ...TEST_MODEL, provider: "compatible" }, context, {}),
      toOpenAIInput(messages, { hasTools: true, takesReasoning: false, refused: new Set<string>() }),
    ]);
  };
  const requests = toRequests(history(FACTS));
  expect(requests).toBe(toRequests(history({})));
  expect(requests).not.toContain("exitCode");
  expect(requests).not.toContain("count");
});

test("a reader takes what it understands of it, and what else a message says stays", () => {
  const saved = { ...result("a", "no", { isError: true }), ...FACTS, later: { a: 1 } };
  const read = (fields: object): unknown => readMessage(JSON.parse(JSON.stringify({ ...saved, ...fields })));
  const { outcome: _, metadata: __, ...plain } = saved;
  expect(read({})).toEqual(saved);
  expect(read({ outcome: "postponed", metadata: [1] })).toEqual(plain);
  expect(read({ outcome: null, metadata: { a: 1, b: { c: 1 }, d: "e", f: null } })).toEqual({
    ...plain,
    metadata: { a: 1, d: "e" },
  });
});
