import { expect, test } from "bun:test";
import { toAnthropicRequest } from "../../src/provider/anthropic/request.ts";
import { toCompatibleRequest } from "../../src/provider/chat-completions/request.ts";
import { toOpenAIInput } from "../../src/provider/openai/request.ts";
import type { SessionManager } from "../../src/session/manager.ts";
import { toShellNote } from "../../src/session/summary-message.ts";
import type { Message } from "../../src/types.ts";
import { user } from "../support/agent-run.ts";
import { checkCompatibleRequest } from "../support/compatible-wire-check.ts";
import { READ_TOOL, TEST_MODEL } from "../support/models.ts";
import { createSessionProject, note } from "../support/session-project.ts";

const NOTE = toShellNote({ command: "ls", output: "a.txt", exitCode: 0 });
const TOLD =
  "The user ran this command in their own shell, not through you. Exit code: 0. Its output:\n\na.txt";

const said = (messages: readonly Message[]) =>
  messages.map((message) => ("content" in message ? message.content : message.output));

const idOf = (session: SessionManager) => session.sessionId;

test("what is told asks for no answer, is on disk at once, and is read with the next prompt", async () => {
  const project = await createSessionProject({ text: "One file." });
  const session = project.manager();
  await session.notify(NOTE);
  expect(project.requests).toEqual([]);
  expect(project.lines(idOf(session)).at(-1)).toMatchObject({ message: { role: "user", content: NOTE } });
  await session.run(user("What is there?")).result();
  expect(project.requests.map(said)).toEqual([[NOTE, "What is there?"]]);
});

test("a run that is going on hears it behind the results of its calls, and nobody can take it back", async () => {
  const project = await createSessionProject(note("a"), { text: "Seen." });
  const session = project.manager();
  const events: string[] = [];
  let telling: Promise<void> | undefined;
  await session.run(user("go")).consume((event) => {
    if (event.type === "tool_start") {
      telling = session.notify(NOTE).then(() => {
        events.push(`taken back: ${session.takeBack("all").length}`);
      });
    }
    if (event.type === "steering") events.push(`${event.id} ${event.text} ${event.isNote}`);
  });
  await telling;
  expect(events).toEqual(["taken back: 0", "steering-1 !ls true"]);
  expect(said(project.requests.at(-1) ?? [])).toEqual([
    "go",
    [expect.objectContaining({ type: "tool_call" })],
    "noted a",
    NOTE,
  ]);
});

test("what is told when a run has just been stopped is kept, and the next one begins with it", async () => {
  const project = await createSessionProject(note("a"), { text: "Done." });
  const session = project.manager();
  const abort = new AbortController();
  let telling: Promise<void> | undefined;
  await session.run(user("go"), { signal: abort.signal }).consume((event) => {
    if (event.type !== "tool_start") return;
    telling = session.notify(NOTE);
    abort.abort();
  });
  await telling;
  await session.run(user("on")).result();
  expect(said(project.requests.at(-1) ?? []).slice(-2)).toEqual([NOTE, "on"]);
});

test("each provider gets it as the user's words", () => {
  const messages: Message[] = [{ role: "user", content: NOTE, timestamp: 1 }, user("What is there?")];
  const context = { systemPrompt: "s", messages, tools: [READ_TOOL] };
  expect(toAnthropicRequest(TEST_MODEL, context).messages).toMatchObject([
    { role: "user", content: [{ text: "!ls" }, { text: TOLD }, { text: "What is there?" }] },
  ]);
  const input = { hasTools: true, takesReasoning: false, refused: new Set<string>() };
  expect(toOpenAIInput(messages, input)).toEqual([
    {
      role: "user",
      content: [
        { type: "input_text", text: "!ls" },
        { type: "input_text", text: TOLD },
      ],
    },
    { role: "user", content: "What is there?" },
  ]);
  const request = toCompatibleRequest({ ...TEST_MODEL, provider: "compatible" }, context, {});
  expect(checkCompatibleRequest(request)).toEqual([]);
});

test("steering brings its files along, and returns as what was written", async () => {
  const project = await createSessionProject(note("a"), { text: "Seen." });
  const session = project.manager();
  const content = [
    { type: "text" as const, text: "look at @a.ts" },
    { type: "text" as const, text: "Attached file a.ts: 1" },
  ];
  const events: unknown[] = [];
  await session.run(user("go")).consume((event) => {
    if (event.type === "tool_start") {
      session.steer(content);
      session.steer("and this");
      events.push(session.takeBack("last"), session.takeBack("last"));
      session.steer(content);
    }
    if (event.type === "steering") events.push(event.text);
  });
  expect(events).toEqual([["and this"], ["look at @a.ts"], "look at @a.ts"]);
  expect(said(project.requests.at(-1) ?? []).at(-1)).toEqual(content);
});
