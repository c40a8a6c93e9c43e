import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AcpClient, type AcpMessage } from "../support/acp-client.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

/** A run with thoughts, text in pieces, calls that are allowed, asked about, refused and fail, and a list of tasks. */
const TURNS = [
  { thinking: "Hm, well.", text: "One. Two. Three.", chunkChars: 5, chunkDelayMs: 1 },
  { toolCalls: [{ name: "todo", input: { todos: [{ content: "a", status: "pending" }] } }] },
  { toolCalls: [{ name: "bash", input: { command: "touch made; echo made" } }] },
  {
    toolCalls: [
      { name: "read", input: { file_path: "none.txt" } },
      { name: "write", input: { file_path: "b.txt", content: "b\n" } },
    ],
  },
].map((turn) => (turn.toolCalls ? turn : { ...turn, toolCalls: [{ name: "ls", input: {} }] }));

/** Messages that the run sends until it ends. */
const MOMENTS = 24;

async function start(): Promise<{ client: AcpClient; sessionId: string }> {
  place.write("script.json", { version: 1, turns: [...TURNS, { text: "Done." }] });
  place.configure({ sandbox: "off", model: `scripted/${join(place.project, "script.json")}` });
  const client = new AcpClient(place);
  client.answer = ({ method }: AcpMessage) =>
    method === "session/request_permission"
      ? { outcome: { outcome: "selected", optionId: "once" } }
      : undefined;
  return { client, sessionId: await client.open(place.project) };
}

/** Resolves when so many messages were received after the ones before, or the prompt has ended. */
async function receive(client: AcpClient, count: number, ended: Promise<unknown>): Promise<void> {
  const before = client.received.length;
  let isEnded = false;
  const end = () => {
    isEnded = true;
  };
  ended.then(end, end);
  await client.find(() => isEnded || client.received.length - before >= count);
}

/** The lines of a session file, all of which have to be whole. */
function readSession(sessionId: string): object[] {
  const path = join(place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("cancel after any number of messages answers the prompt once, and the session lives", async () => {
  const { client } = await start();
  const outcomes = new Set<unknown>();
  for (let count = 0; count <= MOMENTS; count += 2) {
    const { sessionId: opened } = await client.request("session/new", { cwd: place.project, mcpServers: [] });
    const sessionId = String(opened);
    const prompt = client.prompt(sessionId, "go");
    if (count > 0) await receive(client, count, prompt);
    client.send({ method: "session/cancel", params: { sessionId } });
    client.send({ method: "session/cancel", params: { sessionId } });
    const { id, result } = await prompt;
    outcomes.add(result?.stopReason);
    expect(client.received.filter((message) => message.id === id && !message.method)).toHaveLength(1);
    const next = await client.prompt(sessionId, "on");
    expect([count, next.result?.stopReason ?? next.error]).toEqual([count, expect.anything()]);
    await client.request("session/close", { sessionId });
    expect(readSession(sessionId).length).toBeGreaterThan(1);
  }
  expect([...outcomes].sort()).toEqual(["cancelled", "end_turn"]);
  expect(await client.end()).toBe(0);
}, 120_000);

test("an editor that dies after any number of messages leaves a session that continues", async () => {
  for (let count = 1; count < MOMENTS; count += 4) {
    const { client, sessionId } = await start();
    const prompt = client.prompt(sessionId, "go");
    prompt.catch(() => {});
    await receive(client, count, prompt);
    expect(await client.end()).toBe(0);
    readSession(sessionId);
    place.write("script.json", {
      version: 1,
      turns: Array.from({ length: 12 }, () => ({ text: "continued" })),
    });
    const { stdout, exitCode } = await runDiligent(place, ["-p", "and now", "--continue", sessionId]);
    expect([count, stdout, exitCode]).toEqual([count, "continued\n", 0]);
  }
}, 120_000);
