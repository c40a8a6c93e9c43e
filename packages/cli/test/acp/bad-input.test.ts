import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { AcpClient } from "../support/acp-client.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let client: AcpClient;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

function start(...turns: object[]): void {
  place.write("script.json", { version: 1, turns });
  place.configure({ sandbox: "off", model: `scripted/${join(place.project, "script.json")}` });
  client = new AcpClient(place);
}

test("an error of the protocol answers what is wrong, and the next request counts", async () => {
  start({ text: "fine" });
  const sessionId = await client.open(place.project);
  const cwd = place.project;
  const prompt = [{ type: "text", text: "x" }];
  const cases: [string, unknown, number][] = [
    ["session/explode", {}, -32601],
    ["session/prompt", { sessionId, prompt: "x" }, -32602],
    ["session/prompt", { sessionId: 7, prompt }, -32602],
    ["session/prompt", { sessionId, prompt: [] }, -32602],
    ["session/prompt", { sessionId: "nobody", prompt }, -32002],
    ["session/new", { cwd: 7, mcpServers: [] }, -32602],
    ["session/new", { cwd: "relative", mcpServers: [] }, -32602],
    ["session/new", { cwd: join(cwd, "missing"), mcpServers: [] }, -32602],
    ["session/new", { cwd: "/\0", mcpServers: [] }, -32602],
    ["session/load", { sessionId: "../../x", cwd, mcpServers: [] }, -32002],
    ["session/set_mode", { sessionId, modeId: "yolo" }, -32602],
    ["authenticate", { methodId: "magic" }, -32602],
  ];
  for (const [method, params, code] of cases)
    expect([method, params, (await client.ask(method, params)).error?.code]).toEqual([method, params, code]);
  client.send({ method: "session/cancel", params: { sessionId: "nobody" } });
  client.send({ method: "session/cancel", params: 7 });
  expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
  expect(await client.end()).toBe(0);
});

test("bytes that are not messages are answered with errors, and nothing else is on stdout", async () => {
  start({ text: "fine" });
  const sessionId = await client.open(place.project);
  client.sendRaw("hello\n[]\n7\n\n");
  client.sendRaw(new Uint8Array([0x22, 0xff, 0xfe, 0x0a]));
  client.sendRaw('{"jsonrpc":"2.0","id":"nul","method":"a\0b"}\n');
  client.sendRaw(`{"jsonrpc":"2.0","id":"long","method":"${"x".repeat(10 * 1024 * 1024)}"}\n`);
  await client.find(({ id }) => id === "long");
  const long = { sessionId, prompt: [{ type: "text", text: "x".repeat(10 * 1024 * 1024) }] };
  expect((await client.ask("session/prompt", long)).error ?? "answered").toBeDefined();
  expect(client.received.filter(({ error }) => error?.code === -32700).length).toBeGreaterThanOrEqual(2);
  expect(await client.end()).toBe(0);
});

test("requests that arrive with initialize are answered after it, in any division of the bytes", async () => {
  start({ text: "fine" });
  const params = { protocolVersion: 1, clientCapabilities: {} };
  const opening = { cwd: place.project, mcpServers: [] };
  const lines = [
    { jsonrpc: "2.0", id: "i", method: "initialize", params },
    { jsonrpc: "2.0", id: "n", method: "session/new", params: opening },
    { jsonrpc: "2.0", id: "l", method: "session/list", params: {} },
  ].map((line) => `${JSON.stringify(line)}\n`);
  const [first = "", ...rest] = lines;
  client.sendRaw(first + rest.join("").slice(0, 30));
  client.sendRaw(rest.join("").slice(30));
  const found = await client.find(({ id }) => id === "n");
  expect(found.result).toMatchObject({ sessionId: expect.any(String) });
  await client.find(({ id }) => id === "l");
  expect(client.received.filter(({ id }) => id === "i")).toHaveLength(1);
  expect(await client.end()).toBe(0);
});

test("an input that ends after initialize is answered, and the program ends", async () => {
  start({ text: "fine" });
  client.sendRaw('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n');
  expect(await client.end()).toBe(0);
  expect(client.received).toMatchObject([{ id: 1, result: { protocolVersion: 1 } }]);
});

test("a second prompt is an error while one runs, which ends normally", async () => {
  start(
    { toolCalls: [{ name: "bash", input: { command: "until [ -e go ]; do sleep 0.05; done" } }] },
    { text: "done" },
  );
  const sessionId = await client.open(place.project);
  await client.request("session/set_mode", { sessionId, modeId: "auto" });
  const first = client.prompt(sessionId, "one");
  await client.find(({ params }) => Object(params?.update).sessionUpdate === "tool_call");
  expect((await client.prompt(sessionId, "two")).error).toMatchObject({
    code: -32600,
    message: expect.stringContaining("a prompt of this session is running"),
  });
  place.write("go", "");
  expect((await first).result).toEqual({ stopReason: "end_turn" });
  expect(await client.end()).toBe(0);
});

test("cancel right after a prompt answers it with cancelled", async () => {
  start({ text: "one", delayMs: 30_000 }, { text: "two" });
  const sessionId = await client.open(place.project);
  const prompt = client.prompt(sessionId, "one");
  client.send({ method: "session/cancel", params: { sessionId } });
  expect((await prompt).result).toEqual({ stopReason: "cancelled" });
  expect(await client.end()).toBe(0);
});

test("an editor that dies in a permission request leaves a valid session and no process", async () => {
  start({ toolCalls: [{ name: "bash", input: { command: "touch made" } }] });
  const sessionId = await client.open(place.project);
  void client.prompt(sessionId, "go").catch(() => {});
  await client.find(({ method }) => method === "session/request_permission");
  expect(await client.end()).toBe(0);
  place.write("script.json", { version: 1, turns: [{ text: "old" }, { text: "continued" }] });
  const { stdout, exitCode } = await runDiligent(place, ["-p", "and now", "--continue", sessionId]);
  expect([stdout, exitCode]).toEqual(["continued\n", 0]);
});

test("without a key, session/new is answered with -32000", async () => {
  client = new AcpClient(place);
  await client.initialize();
  const { error } = await client.ask("session/new", { cwd: place.project, mcpServers: [] });
  expect(error).toMatchObject({ code: -32000, message: expect.stringContaining("No API key") });
  expect(await client.end()).toBe(0);
});
