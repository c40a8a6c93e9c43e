import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { AcpClient, type AcpMessage } from "../support/acp-client.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let client: AcpClient;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(async () => {
  expect(await client.end()).toBe(0);
  place.remove();
});

const DATABASE = {
  question: "Which database?",
  header: "Database",
  options: [{ label: "SQLite", description: "one file" }, { label: "Postgres" }],
};
const CACHES = {
  question: "Which caches?",
  options: [{ label: "Disk" }, { label: "Memory" }],
  multiSelect: true,
};

async function start(questions: readonly object[], capabilities: object = {}): Promise<string> {
  const turns = [{ toolCalls: [{ name: "ask_user", input: { questions } }] }, { text: "Thanks." }];
  place.write("script.json", { version: 1, turns });
  place.configure({ sandbox: "off", model: `scripted/${join(place.project, "script.json")}` });
  client = new AcpClient(place);
  return client.open(place.project, capabilities);
}

async function ask(sessionId: string): Promise<string> {
  expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
  const [ended] = client.updates("tool_call_update").filter(({ status }) => status !== undefined);
  expect(ended?.status).toBe("completed");
  return Object(ended?.rawOutput).output;
}

const sent = (method: string) => client.received.filter((message: AcpMessage) => message.method === method);

test("ask_user shows each question as a request for permission with its options", async () => {
  const sessionId = await start([DATABASE, CACHES]);
  client.answer = ({ method }) =>
    method === "session/request_permission" ? { outcome: { outcome: "selected", optionId: "1" } } : undefined;
  expect(await ask(sessionId)).toBe("Which database?\n→ Postgres\nWhich caches?\n→ Memory");
  expect(sent("session/request_permission").map(({ params }) => params)).toMatchObject([
    {
      sessionId,
      toolCall: { toolCallId: "call_1", title: "Which database?" },
      options: [
        { optionId: "0", name: "SQLite: one file", kind: "allow_once" },
        { optionId: "1", name: "Postgres", kind: "allow_once" },
        { optionId: "none", kind: "reject_once" },
      ],
    },
    { toolCall: { title: "Which caches?" } },
  ]);
});

test("ask_user shows one form where the editor has forms", async () => {
  const sessionId = await start([DATABASE, CACHES], { elicitation: { form: {} } });
  client.answer = ({ method }) =>
    method === "elicitation/create"
      ? { action: "accept", content: { answer1: "SQLite", answer2: ["Disk", "Memory"] } }
      : undefined;
  expect(await ask(sessionId)).toBe("Which database?\n→ SQLite\nWhich caches?\n→ Disk, Memory");
  const [form] = sent("elicitation/create");
  expect(form?.params).toMatchObject({
    mode: "form",
    sessionId,
    toolCallId: "call_1",
    requestedSchema: {
      type: "object",
      properties: {
        answer1: { type: "string", title: "Database", oneOf: [{ const: "SQLite" }, { const: "Postgres" }] },
        answer2: { type: "array", items: { anyOf: [{ const: "Disk" }, { const: "Memory" }] } },
      },
    },
  });
});

test.each([
  ["declines", { elicitation: { form: {} } }, { action: "decline" }],
  ["answers with nothing", { elicitation: { form: {} } }, {}],
  ["cancels the request", {}, { outcome: { outcome: "cancelled" } }],
  ["chooses not to answer", {}, { outcome: { outcome: "selected", optionId: "none" } }],
  ["chooses what is not there", {}, { outcome: { outcome: "selected", optionId: "9" } }],
  ["answers in a wrong type", {}, { outcome: 7 }],
])("a user who %s is told to the model in a sentence", async (_, capabilities, answer) => {
  const sessionId = await start([DATABASE], capabilities);
  client.answer = () => answer;
  expect(await ask(sessionId)).toStartWith("The user did not answer.");
});

test("cancel ends a question that the editor leaves open", async () => {
  const sessionId = await start([DATABASE]);
  const prompt = client.prompt(sessionId, "go");
  await client.find(({ method }) => method === "session/request_permission");
  client.send({ method: "session/cancel", params: { sessionId } });
  expect((await prompt).result).toEqual({ stopReason: "cancelled" });
});
